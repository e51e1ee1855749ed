// The chain's recursions. Included once per instruction set, inside a namespace, after pair_table_body.hpp; see
// kernels.cpp.
//
// One forward and one backward recursion, over any semiring:
//
//     α_0 = node_0                      α_t = (α_{t−1} ⊗ pair_t) ∘ node_t
//     β_T = 1                           β_{t−1} = pair_t ⊗ (node_t ∘ β_t)

// The arrays of one sequence at work. Rows are padded to `stride`.
struct Lattice {
    int64_t length, n_labels, stride;
    double* alpha;  // [T][stride], the caller's or own
    std::vector<double> own;
    std::vector<double> node;     // [T][stride], lifted
    std::vector<double> scale;    // [T]: what α_t was multiplied by
    std::vector<double> beta;     // [stride]: β_t
    double log_z = 0;             // log Z, or the best score
    double share = 1;             // α β · share = marginal (in logs: α + β − share)
    std::vector<char> reachable;  // labels that the last token can have, where pairs are forbidden

    template <class Table>
    void start(int64_t n, const Table& table, double* alpha_of_caller = nullptr) {
        length = n;
        n_labels = table.n_labels;
        stride = table.stride;
        if (static_cast<int64_t>(node.size()) < n * stride) node.resize(n * stride);
        if (static_cast<int64_t>(scale.size()) < n) scale.resize(n);
        beta.resize(stride);
        alpha = alpha_of_caller;
        if (!alpha) {
            if (static_cast<int64_t>(own.size()) < n * stride) own.resize(n * stride);
            alpha = own.data();
        }
    }
};

// The largest score of a token, and how far the finite ones spread; four lanes at a time, padding is −∞.
struct Range {
    double high, spread;
};

inline Range range_of(const double* scores, int64_t stride) {
    const Lanes infinity = spread(std::numeric_limits<double>::infinity());
    Lanes high = -infinity, low = infinity;
    for (int64_t y = 0; y < stride; y += 4) {
        const Lanes s = load(scores + y);
        high = larger(high, s);
        low = smaller(low, s == -infinity ? infinity : s);
    }
    const double h = std::max(std::max(high[0], high[1]), std::max(high[2], high[3]));
    const double l = std::min(std::min(low[0], low[1]), std::min(low[2], low[3]));
    return {h, h - l};
}

inline double sum_of(const double* values, int64_t stride) {
    Lanes sum = spread(0.0);
    for (int64_t y = 0; y < stride; y += 4) sum += load(values + y);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The scores of one node lifted into the semiring; what was subtracted is added to `shifts`. Bars may be null.
// False: the scores spread further than `limit`, too far for scaled sums.
template <class Semiring>
bool lift_node(const double* scores, const double* bars, double limit, int64_t Y, int64_t S, double* node,
               double& shifts) {
    std::copy(scores, scores + Y, node);
    for (int64_t y = 0; bars && y < Y; ++y) node[y] += bars[y];
    for (int64_t y = Y; y < S; ++y) node[y] = minus_infinity;
    if (!Semiring::scaled) return true;
    const Range range = range_of(node, S);
    if (!(range.spread <= limit)) return false;
    shifts += range.high;
    for (int64_t y = 0; y < S; ++y) node[y] = exp_one(node[y] - range.high);
    return true;
}

// The same, token by token.
template <class Semiring>
bool lift_nodes(const double* scores, double limit, Lattice& lattice, double& shifts) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    for (int64_t t = 0; t < lattice.length; ++t)
        if (!lift_node<Semiring>(scores + t * Y, nullptr, limit, Y, S, lattice.node.data() + t * S, shifts))
            return false;
    return true;
}

// Whether scaled sums have all but lost a label that token t can have. Only asked where pairs are forbidden.
template <class Table>
bool loses_a_label(const Table& table, Lattice& lattice, int64_t number, int64_t t) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    std::vector<char>& reachable = lattice.reachable;
    std::vector<char> before(reachable);
    reachable.assign(Y, 0);
    for (int64_t y = 0; y < Y; ++y) {
        if (lattice.node[t * S + y] == 0) continue;
        bool can = t == 0;
        for (int64_t x = 0; x < Y && !can; ++x) can = before[x] && table.possible(number, x, y);
        reachable[y] = can;
        if (can && !(lattice.alpha[t * S + y] > smallest_share)) return true;
    }
    return false;
}

// α for the first `n` tokens of a sequence (whose first token is number `at`), and, for all of them, log Z (for Max,
// the best score). In scaled sums α_t is multiplied by 1 / Σ α_{t−1}: the sum of the token before, so that no
// step waits for it. False: scaled sums will not do. `scores` is what lift_nodes takes, an array [T][Y] or another
// form.
template <class Semiring, class Scores, class Table>
bool forward(const Scores& scores, int64_t at, const Table& table, Lattice& lattice, int64_t n) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    double shifts = 0, scales = 1, log_scales = 0, sum = 1;
    if (!lift_nodes<Semiring>(scores, node_limit(table, 2), lattice, shifts)) return false;
    for (int64_t t = 0; t < n; ++t) {
        const double* node = lattice.node.data() + t * S;
        double* alpha = lattice.alpha + t * S;
        if (t == 0) {
            std::copy(node, node + S, alpha);
        } else {
            table.template step<Semiring>(alpha - S, at + t, false, alpha);
            for (int64_t y = 0; y < S; ++y) alpha[y] = Semiring::times(alpha[y], node[y]);
            shifts += table.shift_at(at + t);
        }
        lattice.scale[t] = Semiring::one;
        if (Semiring::scaled) {
            const double inverse = 1 / sum;
            for (int64_t y = 0; y < S; ++y) alpha[y] *= inverse;
            lattice.scale[t] = inverse;
            scales *= sum;  // one logarithm for many tokens
            if (!(scales > 1e-100 && scales < 1e100)) {
                log_scales += std::log(scales);
                scales = 1;
            }
            sum = sum_of(alpha, S);
            if (!(sum > smallest_sum)) return false;
            if (table.forbidden && loses_a_label(table, lattice, at + t, t)) return false;
        } else if (Semiring::shifted) {  // keeps the numbers small, so that no digits are lost over a long sequence
            double high = alpha[0];
            for (int64_t y = 1; y < Y; ++y) high = std::max(high, alpha[y]);
            if (high > minus_infinity) {
                for (int64_t y = 0; y < S; ++y) alpha[y] -= high;
                lattice.scale[t] = -high;
                shifts += high;
            }
        }
    }
    if (Semiring::scaled) {
        lattice.log_z = shifts + log_scales + std::log(scales) + std::log(sum);
    } else {
        const double* last = lattice.alpha + (n - 1) * S;
        lattice.log_z = total<Semiring>(last, Y, S) + shifts;
    }
    return true;
}

// Node marginals of one sequence, from β as it goes from the last token back to the first:
//
//     μ_t(y) = α_t(y) β_t(y) / Z          right_t = node_t ∘ β_t          β_{t−1} = pair_t ⊗ right_t
//
// right_t is kept (with the sequence's weight in it): α_{t−1}(x) · pair_t(x, y) · right_t(y) is a pair's marginal.
// Where only some tokens are wanted, α goes no further than the last of them and β no further than the first
// (Sokolovska et al. 2010); then log Z is not known, and not needed: marginals of one token add up to one.
template <class Semiring, class Scores, class Table>
bool sequence_marginals(const Scores& scores, int64_t at, const Table& table, Lattice& lattice, double weight,
                        double* log_z, double* node_out, double* right, LabelWindow window) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    if (!forward<Semiring>(scores, at, table, lattice, window.last + 1)) return false;
    *log_z = lattice.log_z;
    if (!(lattice.log_z > minus_infinity)) return false;
    double* beta = lattice.beta.data();
    for (int64_t y = 0; y < S; ++y) beta[y] = Semiring::one;
    for (int64_t t = lattice.length - 1; t > window.last; --t) {
        const double* node = lattice.node.data() + t * S;
        double* here = right + t * S;
        const double scale = Semiring::scaled ? 1 / total<Semiring>(beta, Y, S) : Semiring::one;
        for (int64_t y = 0; y < S; ++y) here[y] = Semiring::times(Semiring::times(node[y], scale), beta[y]);
        table.template step<Semiring>(here, at + t, true, beta);
    }
    const double* last = lattice.alpha + window.last * S;
    const double mass = sum_of_products<Semiring>(last, beta, Y);
    if (Semiring::scaled && !(mass > smallest_sum)) return false;
    lattice.share = Semiring::scaled ? 1 / mass : mass;
    for (int64_t y = 0; y < S; ++y) beta[y] = Semiring::weighted(beta[y], weight, lattice);
    for (int64_t t = window.last; t >= window.first; --t) {
        const double* alpha = lattice.alpha + t * S;
        const double* node = lattice.node.data() + t * S;
        double* here = right + t * S;
        for (int64_t y = 0; y < Y; ++y) node_out[t * Y + y] = Semiring::marginal(alpha[y], beta[y]);
        const double scale = lattice.scale[t];
        for (int64_t y = 0; y < S; ++y) here[y] = Semiring::times(Semiring::times(node[y], scale), beta[y]);
        if (t > window.first) table.template step<Semiring>(here, at + t, true, beta);
    }
    return true;
}
