// Marginals of some tokens of one sequence whose label pairs are few and change all the time. Included once per
// instruction set, inside a namespace, after chain_recursions_body.hpp, whose recursions it shares; see kernels.cpp.

// Matrices and single pairs from a cache, as PairTable has them for whole batches.
struct WindowSteps {
    const CachedRow* const* rows;  // [T]
    int64_t n_labels, stride;
    double spread;
    static constexpr bool forbidden = false;

    double shift_at(int64_t) const { return 0.0; }
    bool possible(int64_t, int64_t, int64_t) const { return true; }

    // What a step has at a pair without its single pairs, and a pair on top of that.
    template <class Semiring>
    static double base(const CachedRow& row, int64_t stride, int32_t x, int32_t y) {
        if (!row.matrix) return Semiring::one;
        return (Semiring::scaled ? row.matrix->lifted : row.matrix->score)[x * stride + y];
    }

    template <class Semiring>
    void step(const double* left, int64_t t, bool back, double* out) const {
        const CachedRow& row = *rows[t];
        if (row.matrix) {
            const auto& matrix = Semiring::scaled ? (back ? row.matrix->lifted_back : row.matrix->lifted)
                                                  : (back ? row.matrix->score_back : row.matrix->score);
            product<Semiring>(left, matrix.data(), n_labels, stride, out);
        } else {
            const double sum = total<Semiring>(left, n_labels, stride);
            for (int64_t j = 0; j < stride; ++j) out[j] = sum;
        }
        thread_local std::vector<double> lifted, without;
        const auto n = static_cast<int64_t>(row.pair.size());
        lifted.resize(n);
        without.resize(n);
        const double* own = Semiring::scaled ? row.lifted.data() : row.score.data();
        for (int64_t e = 0; e < n; ++e) {
            without[e] = base<Semiring>(row, stride, first_of(row.pair[e]), second_of(row.pair[e]));
            lifted[e] = Semiring::times(without[e], own[e]);
        }
        const SinglePairs pairs{row.pair.data(), lifted.data(), without.data(), n, row.loses_digits};
        correct_singles<Semiring>(left, pairs, back, n_labels, out, [&](int32_t target, double* column) {
            for (int32_t i = 0; i < n_labels; ++i)
                column[i] = back ? base<Semiring>(row, stride, target, i) : base<Semiring>(row, stride, i, target);
        });
    }
};

inline bool chain_window(WindowWork& work, const double* scores, int64_t length, int32_t n_labels, LabelWindow window,
                         double weight) {
    const int64_t Y = n_labels, S = padded(Y);
    if (!work.lattice) work.lattice = std::make_shared<Lattice>();
    Lattice& lattice = *static_cast<Lattice*>(work.lattice.get());
    double low = 0, high = 0, log_z;
    for (int64_t t = 1; t < length; ++t) {
        const CachedRow& row = *work.rows[t];
        low = std::min(low, row.low + (row.matrix ? row.matrix->low : 0.0));
        high = std::max(high, row.high + (row.matrix ? row.matrix->high : 0.0));
    }
    const WindowSteps steps{work.rows.data(), Y, S, high - low};
    if (static_cast<int64_t>(work.alpha.size()) < length * S) {
        work.alpha.resize(length * S);
        work.right.resize(length * S);
        work.node.resize(length * Y);
    }
    lattice.start(length, steps, work.alpha.data());
    if (sequence_marginals<Scaled>(scores, 0, steps, lattice, weight, &log_z, work.node.data(), work.right.data(),
                                   window))
        return true;
    if (!sequence_marginals<Log>(scores, 0, steps, lattice, weight, &log_z, work.node.data(), work.right.data(),
                                 window))
        return false;
    // Out of logs: the largest number of each α is taken over to the other side.
    for (int64_t t = window.last; t >= window.first; --t) {
        double *right = work.right.data() + t * S, *alpha = work.alpha.data() + t * S;
        double before = 0;
        if (t > 0) before = *std::max_element(alpha - S, alpha - S + Y);
        for (int64_t y = 0; y < S; ++y) right[y] = std::exp(right[y] + before);
    }
    for (int64_t t = window.first; t <= window.last; ++t) {
        double* alpha = work.alpha.data() + t * S;
        const double largest = *std::max_element(alpha, alpha + Y);
        for (int64_t y = 0; y < S; ++y) alpha[y] = std::exp(alpha[y] - largest);
    }
    return true;
}
