// The recursions over trees: once upwards, once downwards, over any semiring. Included once per instruction set, inside
// a namespace, after chain_recursions_body.hpp; semirings, matrices and single pairs are those of chains. See
// kernels.cpp.
//
//     B_t = node_t ∘ Π m_c over the children c of t      m_t = pair_t ⊗ B_t, a message to the parent
//     μ_root = B_root / Z                                left_t = μ_parent / m_t          μ_t = (left_t ⊗ pair_t) ∘ B_t
//
// so left_t(x) · pair_t(x, y) · B_t(y) is the marginal of a pair: the parent's times a conditional probability. Where a
// message is zero, so is the parent's marginal, and the quotient may be called zero. Nodes are gone through in an order
// in which parents come before their children, so nothing recurses however deep a tree is.

// Σ log x over many numbers, with few logarithms.
struct LogOfProduct {
    double product = 1, sum = 0;
    void times(double x) {
        product *= x;
        if (product > 1e-100 && product < 1e100) return;
        sum += std::log(product);
        product = 1;
    }
    double value() const { return sum + std::log(product); }
};

// A node may have thousands of children, and a label that the first hundred all but rule out may be what the next
// hundred ask for. So in products numbers that become tiny are multiplied by 2^500, which is counted in `lifts`.
constexpr double lift_factor = 0x1p+500, log_lift = 500 * 0.69314718055994530942;

inline void multiply_lifting(double* row, const double* message, double* lifts, int64_t S) {
    const Lanes least = spread(1 / lift_factor), factor = spread(lift_factor), one = spread(1.0), none = spread(0.0);
    for (int64_t y = 0; y < S; y += 4) {
        const Lanes v = load(row + y) * load(message + y);
        store(row + y, v < least ? v * factor : v);
        store(lifts + y, load(lifts + y) + (v < least ? one : none));
    }
}

// Puts all labels on one scale again, that of the largest; what is lost then is smaller by e^-690. How often the scale
// was lifted is returned.
inline double to_one_scale(double* row, const double* lifts, int64_t S) {
    double fewest = std::numeric_limits<double>::infinity();
    for (int64_t y = 0; y < S; ++y)
        if (row[y] > 0) fewest = std::min(fewest, lifts[y]);
    if (std::isinf(fewest)) return 0;
    for (int64_t y = 0; y < S; ++y)
        if (lifts[y] != fewest) row[y] *= lifts[y] == fewest + 1 ? 1 / lift_factor : 0.0;
    return fewest;
}

// One forest on its way up. Rows of the lattice are nodes, numbered from 0: `node` becomes B, `alpha` has messages.
template <class Semiring>
class UpwardPass {
  public:
    UpwardPass(const ChainShape& shape, int64_t i, const PairTable& table, Lattice& lattice)
        : shape_(shape), table_(table), lattice_(lattice), at_(shape.offsets[i]), Y_(lattice.n_labels),
          S_(lattice.stride), lifts_(S_) {
        if (watched()) lattice.reachable.assign(lattice.length * Y_, 0);
    }

    // log Z (for Max, the best score) goes to the lattice. False: scaled sums will not do.
    bool run(const double* scores) {
        for (int64_t t = at_; t < at_ + lattice_.length; ++t) {
            const double limit = node_limit(table_, shape_.child_start[t + 1] - shape_.child_start[t] + 1);
            if (!lift_node<Semiring>(scores + t * Y_, shape_.bars_of(t), limit, Y_, S_, inside(t), shifts_))
                return false;
        }
        for (int64_t s = lattice_.length - 1; s >= 0; --s) {
            const int64_t t = shape_.order[at_ + s];
            if (watched())
                for (int64_t y = 0; y < Y_; ++y) reachable(t)[y] = inside(t)[y] > 0;
            gather(t);
            if (!normalise(t)) return false;
            if (shape_.parent[t] < 0) continue;
            table_.template step<Semiring>(inside(t), t, true, message(t));
            shifts_ += table_.shift_at(t);
        }
        lattice_.log_z = shifts_ + (Semiring::scaled ? scales_.value() : 0.0);
        return true;
    }

  private:
    double* inside(int64_t t) { return lattice_.node.data() + (t - at_) * S_; }
    double* message(int64_t t) { return lattice_.alpha + (t - at_) * S_; }
    char* reachable(int64_t t) { return lattice_.reachable.data() + (t - at_) * Y_; }
    bool watched() const { return Semiring::scaled && table_.forbidden; }

    // B_t = node_t ∘ Π m_c.
    void gather(int64_t t) {
        const int64_t first = shape_.child_start[t], last = shape_.child_start[t + 1];
        if (first == last) return;
        double* here = inside(t);
        if (Semiring::scaled) {
            std::fill(lifts_.begin(), lifts_.end(), 0.0);
            for (int64_t c = first; c < last; ++c)
                multiply_lifting(here, message(shape_.children[c]), lifts_.data(), S_);
            shifts_ -= log_lift * to_one_scale(here, lifts_.data(), S_);
            return;
        }
        for (int64_t c = first; c < last; ++c) {
            const double* from = message(shape_.children[c]);
            for (int64_t y = 0; y < S_; ++y) here[y] = Semiring::times(here[y], from[y]);
        }
    }

    // Numbers stay near one. At a root, they add up to it.
    bool normalise(int64_t t) {
        double* here = inside(t);
        const bool root = shape_.parent[t] < 0;
        if (Semiring::scaled) {
            const double sum = sum_of(here, S_);
            if (!(sum > smallest_sum)) return false;
            const double inverse = 1 / sum;
            for (int64_t y = 0; y < S_; ++y) here[y] *= inverse;
            scales_.times(sum);
            return !watched() || !loses_a_label_of(t);
        }
        if (!Semiring::shifted && !root) return true;
        const double by = root ? total<Semiring>(here, Y_, S_) : *std::max_element(here, here + Y_);
        shifts_ += by;
        for (int64_t y = 0; y < S_ && Semiring::shifted && by > minus_infinity; ++y) here[y] -= by;
        return true;
    }

    // Whether scaled sums have all but lost a label that a node can have, given that its children can have one each.
    // Only asked where pairs are forbidden; a label that has a share can be had, so few need a look at the children.
    bool loses_a_label_of(int64_t t) {
        for (int64_t y = 0; y < Y_; ++y) {
            if (!reachable(t)[y] || inside(t)[y] > smallest_share) continue;
            if (reaches(t, y)) return true;
            reachable(t)[y] = 0;
        }
        return false;
    }
    bool reaches(int64_t t, int64_t y) {
        for (int64_t c = shape_.child_start[t]; c < shape_.child_start[t + 1]; ++c) {
            const int64_t child = shape_.children[c];
            bool some = false;
            for (int64_t z = 0; z < Y_ && !some; ++z) some = reachable(child)[z] && table_.possible(child, y, z);
            if (!some) return false;
        }
        return true;
    }

    const ChainShape& shape_;
    const PairTable& table_;
    Lattice& lattice_;
    int64_t at_, Y_, S_;
    std::vector<double> lifts_;
    LogOfProduct scales_;
    double shifts_ = 0;
};

template <class Semiring>
bool upward_pass(const ChainShape& shape, int64_t i, const double* scores, const PairTable& table, Lattice& lattice) {
    return UpwardPass<Semiring>(shape, i, table, lattice).run(scores);
}

// Where marginals of nodes go, and what those of pairs are made of.
struct ForestOut {
    double *node, *left, *right;  // [T][Y], [T][stride], [T][stride]
};

template <class Semiring>
bool forest_marginals(const ChainShape& shape, int64_t i, const double* scores, const PairTable& table,
                      Lattice& lattice, double weight, double* log_z, const ForestOut& out) {
    const int64_t Y = lattice.n_labels, S = lattice.stride, at = shape.offsets[i];
    if (!upward_pass<Semiring>(shape, i, scores, table, lattice)) return false;
    log_z[i] = lattice.log_z;
    if (!(lattice.log_z > minus_infinity)) return false;
    lattice.share = Semiring::one;
    double* beta = lattice.beta.data();
    for (int64_t s = 0; s < lattice.length; ++s) {
        const int64_t t = shape.order[at + s], parent = shape.parent[t];
        const double* inside = lattice.node.data() + (t - at) * S;
        double* mu = lattice.alpha + (t - at) * S;  // the message, until it is used
        if (parent < 0) {
            for (int64_t y = 0; y < S; ++y) mu[y] = Semiring::weighted(inside[y], weight, lattice);
        } else {
            const double* above = lattice.alpha + (parent - at) * S;
            double* left = out.left + t * S;
            for (int64_t x = 0; x < S; ++x) left[x] = Semiring::over(above[x], mu[x]);
            table.template step<Semiring>(left, t, false, beta);
            for (int64_t y = 0; y < S; ++y) mu[y] = Semiring::times(beta[y], inside[y]);
        }
        for (int64_t y = 0; y < Y; ++y) out.node[t * Y + y] = Semiring::marginal(mu[y], Semiring::one);
        std::copy(inside, inside + S, out.right + t * S);
    }
    return true;
}
