// The chain's dynamic programs. Included once per instruction set, inside a namespace; see kernels.cpp.
//
// One forward and one backward recursion, over any semiring:
//
//     α_0 = node_0                      α_t = (α_{t−1} ⊗ pair_t) ∘ node_t
//     β_T = 1                           β_{t−1} = pair_t ⊗ (node_t ∘ β_t)
//
// Scaled:  ordinary sums and products of exp(score − max), α normalised at every token (so Y exponentials a
//          token, not Y²).
// Log:     log-sum-exp of the scores themselves; slow, but exact for any scores; used for sequences whose
//          scores spread so far that the scaled recursion could lose something (see `safe_spread`).
// Max:     max and plus; Viterbi.

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Scaled sums lose a label only when its part of α underflows, e^-708. Before it is scaled, that part is at least
// e^-(spread of node scores + twice the spread of pair scores) / Y, so nothing is lost when that stays well above.
// Where pairs are forbidden there is no such bound (labels that cannot reach each other drift apart), so α itself is
// watched: a label that can be reached must keep a share above `smallest_share`.
constexpr double safe_spread = 600.0, smallest_share = 1e-150;

struct Scaled {
    static constexpr double zero = 0.0, one = 1.0;
    static constexpr bool scaled = true, shifted = false;
    static double lift(double score, double shift) { return exp_one(score - shift); }
    template <class Lattice>
    static double weighted(double a, double weight, const Lattice& lattice) { return a * weight * lattice.share; }
    static double marginal(double alpha, double beta) { return alpha * beta; }
    static double over(double a, double b) { return b > 0 ? a / b : 0.0; }
    static double times(double a, double b) { return a * b; }
    static double fold(double sum, double a, double b) { return sum + a * b; }
    static Lanes fold(Lanes sum, Lanes a, Lanes b) { return sum + a * b; }
};

struct Max {
    static constexpr double zero = minus_infinity, one = 0.0;
    static constexpr bool scaled = false, shifted = false;
    static double lift(double score, double) { return score; }
    static double times(double a, double b) { return a + b; }
    static double fold(double sum, double a, double b) { return sum > a + b ? sum : a + b; }
    static Lanes fold(Lanes sum, Lanes a, Lanes b) { return larger(sum, a + b); }
};

struct Log {
    static constexpr double zero = minus_infinity, one = 0.0;
    static constexpr bool scaled = false, shifted = true;
    static double lift(double score, double) { return score; }
    template <class Lattice>
    static double weighted(double a, double weight, const Lattice& lattice) { return a + std::log(weight) - lattice.share; }
    static double marginal(double alpha, double beta) { return std::exp(alpha + beta); }
    static double over(double a, double b) { return b == minus_infinity ? b : a - b; }
    static double times(double a, double b) { return a + b; }
    static double fold(double sum, double a, double b) {
        const double x = a + b;
        const double high = sum > x ? sum : x, low = sum > x ? x : sum;
        return low == minus_infinity ? high : high + std::log1p(std::exp(low - high));
    }
    static Lanes fold(Lanes sum, Lanes a, Lanes b) {
        for (int j = 0; j < 4; ++j) sum[j] = fold(sum[j], a[j], b[j]);
        return sum;
    }
};

// out[j] = ⊕_i left[i] ⊗ matrix[i][j] for 4·W columns that stay in registers.
template <class Semiring, int W>
void product_columns(const double* left, const double* matrix, int64_t n, int64_t stride, double* out) {
    Lanes sum[W];
#pragma GCC unroll 8
    for (int j = 0; j < W; ++j) sum[j] = spread(Semiring::zero);
    for (int64_t i = 0; i < n; ++i) {
        const Lanes l = spread(left[i]);
        const double* row = matrix + i * stride;
#pragma GCC unroll 8
        for (int j = 0; j < W; ++j) sum[j] = Semiring::fold(sum[j], l, load(row + 4 * j));
    }
#pragma GCC unroll 8
    for (int j = 0; j < W; ++j) store(out + 4 * j, sum[j]);
}

// out = left ⊗ matrix, matrix [n][stride], stride a multiple of 4.
template <class Semiring>
void product(const double* left, const double* matrix, int64_t n, int64_t stride, double* out) {
    int64_t j = 0;
    for (; j + 32 <= stride; j += 32) product_columns<Semiring, 8>(left, matrix + j, n, stride, out + j);
    switch (stride - j) {
        case 28: product_columns<Semiring, 7>(left, matrix + j, n, stride, out + j); break;
        case 24: product_columns<Semiring, 6>(left, matrix + j, n, stride, out + j); break;
        case 20: product_columns<Semiring, 5>(left, matrix + j, n, stride, out + j); break;
        case 16: product_columns<Semiring, 4>(left, matrix + j, n, stride, out + j); break;
        case 12: product_columns<Semiring, 3>(left, matrix + j, n, stride, out + j); break;
        case 8: product_columns<Semiring, 2>(left, matrix + j, n, stride, out + j); break;
        case 4: product_columns<Semiring, 1>(left, matrix + j, n, stride, out + j); break;
        default: break;
    }
}

// ⊕ over labels; in scaled sums padding is zero.
template <class Semiring>
double total(const double* left, int64_t n, int64_t stride) {
    if (!Semiring::scaled) {
        double sum = Semiring::zero;
        for (int64_t i = 0; i < n; ++i) sum = Semiring::fold(sum, left[i], Semiring::one);
        return sum;
    }
    Lanes sum = spread(0.0);
    for (int64_t i = 0; i < stride; i += 4) sum += load(left + i);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The single pairs of a step: lifted, and what the step has there without them (null: one).
struct SinglePairs {
    const uint32_t* pair;
    const double *lifted, *base;
    int64_t n;
    bool loses_digits;  // whether some pair leaves less than `least_left` of what there is without it
};
constexpr double least_left = 1e-5;

// Puts right what a product has at the targets of single pairs; `anew` is the whole sum for one target.
template <class Semiring, class Anew>
void put_right(const double* left, const SinglePairs& pairs, bool back, double* out, Anew&& anew) {
    const auto base = [&](int64_t e) { return pairs.base ? pairs.base[e] : Semiring::one; };
    if (Semiring::scaled) {
        for (int64_t e = 0; e < pairs.n; ++e) {
            const int32_t x = first_of(pairs.pair[e]), y = second_of(pairs.pair[e]);
            out[back ? x : y] += left[back ? y : x] * (pairs.lifted[e] - base(e));
        }
        // Where a pair all but takes away what the matrix has, digits would be lost.
        if (!pairs.loses_digits) return;
        for (int64_t e = 0; e < pairs.n; ++e) {
            if (pairs.lifted[e] >= least_left * base(e)) continue;
            const int32_t target = back ? first_of(pairs.pair[e]) : second_of(pairs.pair[e]);
            out[target] = anew(target);
        }
        return;
    }
    for (int64_t e = 0; e < pairs.n; ++e) {
        const int32_t x = first_of(pairs.pair[e]), y = second_of(pairs.pair[e]);
        const int32_t source = back ? y : x, target = back ? x : y;
        // A maximum that another pair attains stays what it is; one that this pair attained must be found anew.
        const bool lost = Semiring::shifted || (pairs.lifted[e] < base(e) && left[source] + base(e) >= out[target]);
        if (lost) out[target] = anew(target);
        else out[target] = std::max(out[target], left[source] + pairs.lifted[e]);
    }
}

// The scores of label pairs, lifted into a semiring: matrices with rows padded to the vector width, also transposed,
// so that both recursions run along rows; and single pairs, each with its matrix's share in it.
struct PairTable {
    const ChainShape* shape;
    int64_t n_labels, stride;
    std::vector<double> forward, backward;  // [K][Y][stride]
    std::vector<double> shift;              // [K]: what was subtracted before exp
    std::vector<double> singles, base;      // [E]: lifted, and what the matrix alone has at this place
    std::vector<char> loses_digits;         // [R]: whether some pair leaves less than this share of what the matrix has
    double spread = 0;
    bool forbidden = false;

    const double* into(int64_t kind) const { return forward.data() + kind * n_labels * stride; }
    const double* from(int64_t kind) const { return backward.data() + kind * n_labels * stride; }
    double shift_at(int64_t t) const { return shape->pair_kind[t] < 0 ? 0.0 : shift[shape->pair_kind[t]]; }

    // Whether a pair is not forbidden at the step into token t (in scaled sums).
    bool possible(int64_t t, int64_t x, int64_t y) const {
        const int32_t kind = shape->pair_kind[t];
        return kind < 0 || into(kind)[x * stride + y] > 0;
    }

    template <class Semiring>
    static PairTable lift(const ChainShape& shape, const PartScores& scores, bool both, int threads) {
        PairTable table;
        table.shape = &shape;
        const int64_t Y = table.n_labels = shape.n_labels;
        const int64_t S = table.stride = padded(Y);
        both = both || shape.n_rows;
        table.forward.assign(shape.n_kinds * Y * S, Semiring::zero);
        if (both) table.backward.assign(shape.n_kinds * Y * S, Semiring::zero);
        table.shift.assign(shape.n_kinds, 0.0);
        std::vector<double> spreads(shape.n_kinds, 0.0);
        std::vector<char> forbidden(shape.n_kinds, 0);
        parallel_for(shape.n_kinds, threads, [&](int64_t k, int) {
            const double* pair = scores.pair + k * Y * Y;
            double high = minus_infinity, low = -minus_infinity;
            for (int64_t i = 0; i < Y * Y; ++i) {
                high = std::max(high, pair[i]);
                if (pair[i] == minus_infinity) forbidden[k] = 1;
                else low = std::min(low, pair[i]);
            }
            if (high == minus_infinity) high = low = 0;
            spreads[k] = high - low;
            if (Semiring::scaled) table.shift[k] = high;
            double* to = table.forward.data() + k * Y * S;
            for (int64_t i = 0; i < Y; ++i)
                for (int64_t j = 0; j < Y; ++j) to[i * S + j] = Semiring::lift(pair[i * Y + j], high);
            if (both)
                for (int64_t i = 0; i < Y; ++i)
                    for (int64_t j = 0; j < Y; ++j)
                        table.backward[k * Y * S + j * S + i] = to[i * S + j];
        });
        for (int64_t k = 0; k < shape.n_kinds; ++k) {
            table.spread = std::max(table.spread, spreads[k]);
            table.forbidden = table.forbidden || forbidden[k];
        }
        table.lift_singles<Semiring>(scores, threads);
        return table;
    }

    // out = left ⊗ matrix of a step (or, on the way back, its transpose).
    //
    // The product with the matrix that many steps share (or with none: then all its numbers are the same sum) is put
    // right where single pairs differ from it; so a step without a matrix costs Y + the number of its single pairs
    // (Lavergne et al. 2010, §4.1: M = exp(λ) − 1 is sparse).
    template <class Semiring>
    void step(const double* left, int64_t t, bool back, double* out) const {
        const int32_t kind = shape->pair_kind[t], row = shape->row_of(t);
        const int64_t Y = n_labels, S = stride;
        if (kind >= 0) {
            product<Semiring>(left, back ? from(kind) : into(kind), Y, S, out);
        } else {
            const double sum = total<Semiring>(left, Y, S);
            for (int64_t j = 0; j < S; ++j) out[j] = sum;
        }
        if (row < 0) return;
        const int64_t first = shape->single_start[row], n = shape->single_start[row + 1] - first;
        const SinglePairs pairs{shape->single + first, singles.data() + first, base.data() + first, n, loses_digits[row] != 0};
        put_right<Semiring>(left, pairs, back, out, [&](int64_t target) { return at_target<Semiring>(left, row, kind, target, back); });
    }

    // ⊕ over labels of left ⊗ the lifted pair, for one label at the other end.
    template <class Semiring>
    double at_target(const double* left, int32_t row, int32_t kind, int64_t target, bool back) const {
        thread_local std::vector<double> column;
        column.resize(n_labels);
        column_of<Semiring>(row, kind, target, back, column.data());
        double sum = Semiring::zero;
        for (int64_t i = 0; i < n_labels; ++i) sum = Semiring::fold(sum, left[i], column[i]);
        return sum;
    }

    // The lifted pairs with y as their second label (or, on the way back, their first).
    template <class Semiring>
    void column_of(int32_t row, int32_t kind, int64_t y, bool back, double* out) const {
        if (kind >= 0 && (back || !backward.empty())) {
            const double* from_matrix = (back ? into(kind) : from(kind)) + y * stride;
            std::copy(from_matrix, from_matrix + n_labels, out);
        } else if (kind >= 0) {
            for (int64_t x = 0; x < n_labels; ++x) out[x] = into(kind)[x * stride + y];
        } else {
            std::fill(out, out + n_labels, Semiring::one);
        }
        if (row < 0) return;
        for (int64_t e = shape->single_start[row]; e < shape->single_start[row + 1]; ++e) {
            const int32_t first = first_of(shape->single[e]), second = second_of(shape->single[e]);
            if ((back ? first : second) == y) out[back ? second : first] = singles[e];
        }
    }

  private:
    template <class Semiring>
    void lift_singles(const PartScores& scores, int threads) {
        const int64_t n = shape->n_singles();
        if (!n) return;
        singles.resize(n);
        base.resize(n);
        loses_digits.assign(shape->n_rows, 0);
        constexpr int64_t grain = 256;
        const int64_t pieces = (shape->n_rows + grain - 1) / grain;
        std::vector<std::pair<double, double>> ranges(pieces, {0.0, 0.0});
        parallel_for(pieces, threads, [&](int64_t piece, int) {
            auto& [low, high] = ranges[piece];
            for (int64_t r = piece * grain; r < std::min(shape->n_rows, (piece + 1) * grain); ++r) {
                const int32_t kind = shape->row_kind[r];
                for (int64_t e = shape->single_start[r]; e < shape->single_start[r + 1]; ++e) {
                    const int32_t x = first_of(shape->single[e]), y = second_of(shape->single[e]);
                    const double score = scores.single[e];
                    base[e] = kind < 0 ? Semiring::one : into(kind)[x * stride + y];
                    singles[e] = Semiring::times(base[e], Semiring::lift(score, 0.0));
                    if (singles[e] < least_left * base[e]) loses_digits[r] = 1;
                    low = std::min(low, score);
                    high = std::max(high, score);
                }
            }
        });
        double low = 0, high = 0;
        for (const auto& [l, h] : ranges) {
            low = std::min(low, l);
            high = std::max(high, h);
        }
        spread += high - low;
    }
};

// One sequence in flight. Rows are padded to `stride`.
struct Lattice {
    int64_t length, n_labels, stride;
    double* alpha;               // [T][stride], the caller's or own
    std::vector<double> own;
    std::vector<double> node;    // [T][stride], lifted
    std::vector<double> scale;   // [T]: what α_t was multiplied by
    std::vector<double> beta;    // [stride]: β_t
    double log_z = 0;            // log Z, or the best score
    double share = 1;            // α β · share = marginal (in logs: α + β − share)
    std::vector<char> reachable; // labels that the last token can have, where pairs are forbidden

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
bool lift_node(const double* scores, const double* bars, double limit, int64_t Y, int64_t S, double* node, double& shifts) {
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
bool lift_nodes(const double* scores, double spread_of_pairs, Lattice& lattice, double& shifts) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    const double limit = safe_spread - 2 * spread_of_pairs;
    for (int64_t t = 0; t < lattice.length; ++t)
        if (!lift_node<Semiring>(scores + t * Y, nullptr, limit, Y, S, lattice.node.data() + t * S, shifts)) return false;
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

// α for the first `n` tokens of a sequence (whose first token is number `at`), and, for all of them, log Z (for Max, the
// best score). In scaled sums α_t is multiplied by 1 / Σ α_{t−1}: the sum of the token before, so that nobody has to
// wait for it. False: scaled sums will not do.
template <class Semiring, class Table>
bool forward(const double* scores, int64_t at, const Table& table, Lattice& lattice, int64_t n) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    double shifts = 0, scales = 1, log_scales = 0, sum = 1;
    if (!lift_nodes<Semiring>(scores, table.spread, lattice, shifts)) return false;
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
            if (!(sum > 1e-280)) return false;
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
        double total = Semiring::zero;
        for (int64_t y = 0; y < Y; ++y) total = Semiring::fold(total, last[y], Semiring::one);
        lattice.log_z = total + shifts;
    }
    return true;
}

// Node marginals of one sequence, from β as it goes from the last token back to the first:
//
//     μ_t(y) = α_t(y) β_t(y) / Z          right_t = node_t ∘ β_t          β_{t−1} = pair_t ⊗ right_t
//
// right_t is kept (with the sequence's weight in it): α_{t−1}(x) · pair_t(x, y) · right_t(y) is a pair's marginal. Where
// only some tokens are wanted, α goes no further than the last of them and β no further than the first (Sokolovska et
// al. 2010); then log Z is not known, and not needed: marginals of one token add up to one.
template <class Semiring, class Table>
bool sequence_marginals(const double* scores, int64_t at, const Table& table, Lattice& lattice, double weight, double* log_z,
                        double* node_out, double* right, LabelWindow window) {
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
    double mass = Semiring::zero;
    for (int64_t y = 0; y < Y; ++y) mass = Semiring::fold(mass, last[y], beta[y]);
    if (Semiring::scaled && !(mass > 1e-280)) return false;
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

// sum[i][j] += Σ over steps of left[t − lag][i] · right[t][j]: two rows of 4·W columns stay in registers. In chains the lag
// is 1; a tree has a left row for each node (see ChainShape::left_row).
template <int W>
void add_outer_columns(const int32_t* steps, int64_t n, const double* left, int64_t lag, const double* right, int64_t Y,
                       int64_t S, double* sum) {
    for (int64_t i = 0; i < Y; i += 2) {
        const int64_t second = i + 1 < Y ? i + 1 : i;
        Lanes a[W], b[W];
        for (int j = 0; j < W; ++j) a[j] = b[j] = spread(0.0);
        for (int64_t s = 0; s < n; ++s) {
            const double* l = left + (static_cast<int64_t>(steps[s]) - lag) * S;
            const double* r = right + static_cast<int64_t>(steps[s]) * S;
            const Lanes x = spread(l[i]), y = spread(l[second]);
            for (int j = 0; j < W; ++j) {
                const Lanes z = load(r + 4 * j);
                a[j] += x * z;
                b[j] += y * z;
            }
        }
        for (int j = 0; j < W; ++j) store(sum + i * S + 4 * j, load(sum + i * S + 4 * j) + a[j]);
        if (second != i)
            for (int j = 0; j < W; ++j) store(sum + second * S + 4 * j, load(sum + second * S + 4 * j) + b[j]);
    }
}

inline void add_outer(const int32_t* steps, int64_t n, const double* left, int64_t lag, const double* right, int64_t Y,
                      int64_t S, double* sum) {
    constexpr int64_t tile = 32;  // every row of the sum goes through the steps: few enough to stay in the cache
    if (S > 24 && n > tile) {
        for (int64_t first = 0; first < n; first += tile)
            add_outer(steps + first, std::min(tile, n - first), left, lag, right, Y, S, sum);
        return;
    }
    int64_t j = 0;
    for (; j + 24 <= S; j += 24) add_outer_columns<6>(steps, n, left, lag, right + j, Y, S, sum + j);
    switch (S - j) {
        case 20: add_outer_columns<5>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 16: add_outer_columns<4>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 12: add_outer_columns<3>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 8: add_outer_columns<2>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        case 4: add_outer_columns<1>(steps, n, left, lag, right + j, Y, S, sum + j); break;
        default: break;
    }
}

// Pair marginals of a range of sequences, by kind: Σ of α ⊗ right, which is still to be multiplied by the pair score
// that all steps of a kind share, and sums of sequences that were done in logs, which are complete.
struct PairSums {
    std::vector<double> products, exact;  // [K][Y][stride]

    double* of(std::vector<double>& sums, int64_t kind, const PairTable& table, int64_t n_kinds) {
        const int64_t size = table.n_labels * table.stride;
        if (sums.empty()) sums.assign(n_kinds * size, 0.0);
        return sums.data() + kind * size;
    }
};

// sum[x][y] += P(x, y) at a step of a sequence done in logs; left and right are the step's own rows.
inline void add_in_logs(const double* left, const double* right, const PairTable& table, int32_t row, int32_t kind, double* sum) {
    const int64_t Y = table.n_labels, S = table.stride;
    std::vector<double> pairs(Y);
    for (int64_t i = 0; i < Y; ++i) {
        table.column_of<Log>(row, kind, i, true, pairs.data());
        for (int64_t j = 0; j < Y; ++j) sum[i * S + j] += std::exp(left[i] + pairs[j] + right[j]);
    }
}

// The steps of one sequence, while its α and right are still in the cache. `steps` is 0, 1, 2, …
inline void add_steps(const Lattice& lattice, const int32_t* kind, const double* right, const PairTable& table,
                      int64_t n_kinds, const std::vector<int32_t>& steps, bool in_logs, PairSums& sums) {
    const int64_t Y = lattice.n_labels, S = lattice.stride;
    for (int64_t t = 1; t < lattice.length;) {
        int64_t end = t + 1;
        while (end < lattice.length && kind[end] == kind[t]) ++end;
        if (kind[t] >= 0 && !in_logs)
            add_outer(steps.data() + t, end - t, lattice.alpha, 1, right, Y, S, sums.of(sums.products, kind[t], table, n_kinds));
        if (kind[t] >= 0 && in_logs)
            for (int64_t u = t; u < end; ++u)
                add_in_logs(lattice.alpha + (u - 1) * S, right + u * S, table, -1, kind[u], sums.of(sums.exact, kind[u], table, n_kinds));
        t = end;
    }
}

// Node marginals of one forest, and what those of pairs are made of; see tree_body.hpp.
struct ForestOut {
    double *node, *left, *right;  // [T][Y], [T][stride], [T][stride]
};
template <class Semiring>
bool forest_marginals(const ChainShape& shape, int64_t i, const double* scores, const PairTable& table, Lattice& lattice, double weight,
                      double* log_z, const ForestOut& out);

// One matrix a kind and piece of work is kept while there are few kinds (without observations there is one). With many
// kinds, or single pairs, α and right of all tokens are kept instead, and steps are gone through kind by kind and row
// by row afterwards.
constexpr int64_t few_kinds = 16;

struct MarginalPass {
    const ChainShape& shape;
    const PartScores& scores;
    double *left, *right;           // [T][stride]; unused where sums are taken at once
    const PairTable scaled;
    std::optional<PairTable> log_table;
    std::vector<char> in_logs;      // [T]
    bool at_once;
    int threads;

    MarginalPass(const ChainShape& chain, const PartScores& given, double* l, double* r, bool keep, int n_threads)
        : shape(chain), scores(given), left(l), right(r), scaled(PairTable::lift<Scaled>(chain, given, true, n_threads)),
          at_once(chain.n_kinds <= few_kinds && !chain.n_rows && !keep && !chain.parent), threads(n_threads) {}

    // log Z and node marginals; α and right, or the sums of pairs.
    bool run(double* log_z, double* node_out, std::vector<PairSums>& sums) {
        const int64_t S = scaled.stride;
        std::atomic<bool> feasible{true}, any_log{false};
        std::mutex lock;
        std::vector<Lattice> lattices(std::max(threads, 1));
        std::vector<int32_t> steps;
        if (at_once) {
            int64_t longest = 0;
            for (int64_t i = 0; i < shape.n_sequences; ++i) longest = std::max(longest, shape.offsets[i + 1] - shape.offsets[i]);
            steps.resize(longest);
            std::iota(steps.begin(), steps.end(), 0);
        }
        in_logs.assign(shape.offsets[shape.n_sequences], 0);
        const auto cuts = balanced_cuts(shape.offsets, shape.n_sequences, 64);
        const auto n_cuts = static_cast<int64_t>(cuts.size()) - 1;
        if (at_once) sums.resize(n_cuts);
        parallel_for(n_cuts, threads, [&](int64_t piece, int worker) {
            Lattice& lattice = lattices[worker];
            std::vector<double> own_right;
            for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
                const int64_t at = shape.offsets[i], length = shape.offsets[i + 1] - at;
                if (at_once && static_cast<int64_t>(own_right.size()) < length * S) own_right.resize(length * S);
                double* mine = at_once ? own_right.data() : right + at * S;
                lattice.start(length, scaled, at_once || shape.parent ? nullptr : left + at * S);
                if (lattice.length == 0) { log_z[i] = 0; continue; }
                const PairTable* table = &scaled;
                bool done = instance_marginals<Scaled>(i, scaled, lattice, log_z, node_out, mine);
                if (!done) {
                    {
                        const std::lock_guard<std::mutex> hold(lock);
                        if (!log_table) log_table = PairTable::lift<Log>(shape, scores, true, 1);
                    }
                    table = &*log_table;
                    std::fill_n(in_logs.begin() + at, length, 1);
                    any_log = true;
                    done = instance_marginals<Log>(i, *table, lattice, log_z, node_out, mine);
                }
                if (!done) feasible = false;
                else if (at_once) add_steps(lattice, shape.pair_kind + at, mine, *table, shape.n_kinds, steps, table != &scaled, sums[piece]);
            }
        });
        if (!any_log) in_logs.clear();
        return feasible;
    }

    template <class Semiring>
    bool instance_marginals(int64_t i, const PairTable& table, Lattice& lattice, double* log_z, double* node_out, double* mine) {
        const int64_t Y = shape.n_labels, at = shape.offsets[i];
        const double weight = shape.weight ? shape.weight[i] : 1.0;
        if (shape.parent) return forest_marginals<Semiring>(shape, i, scores.node, table, lattice, weight, log_z, {node_out, left, right});
        return sequence_marginals<Semiring>(scores.node + at * Y, at, table, lattice, weight, log_z + i, node_out + at * Y, mine,
                                            {0, lattice.length - 1});
    }

    bool logs_at(int64_t t) const { return !in_logs.empty() && in_logs[t]; }

    void sum_at_once(std::vector<PairSums>& sums, double* pair_out) const {
        const int64_t Y = shape.n_labels, S = scaled.stride;
        for (PairSums& sum : sums)
            for (int64_t k = 0; k < shape.n_kinds; ++k)
                for (int64_t i = 0; i < Y; ++i)
                    for (int64_t j = 0; j < Y; ++j) {
                        const int64_t from = (k * Y + i) * S + j;
                        double& out = pair_out[(k * Y + i) * Y + j];
                        if (!sum.products.empty()) out += sum.products[from] * scaled.forward[from];
                        if (!sum.exact.empty()) out += sum.exact[from];
                    }
    }

    // Steps of sequences done in logs are summed one by one; all others as products of α and right, which are
    // multiplied by the (shared) pair score once at the end. Single pairs differ from it.
    void sum_by_kind(double* pair_out) const {
        const int64_t Y = shape.n_labels, S = scaled.stride, lag = shape.parent ? 0 : 1;
        std::vector<double> sums(shape.n_pieces * Y * S, 0.0);
        parallel_for(shape.n_pieces, threads, [&](int64_t p, int) {
            double* sum = sums.data() + p * Y * S;
            const int32_t kind = shape.piece_kind[p];
            const int32_t* steps = shape.steps + shape.piece_start[p];
            const int64_t n = shape.piece_start[p + 1] - shape.piece_start[p];
            std::vector<int32_t> plain;
            for (int64_t s = 0; s < n && !in_logs.empty(); ++s)
                if (!in_logs[steps[s]]) plain.push_back(steps[s]);
            if (in_logs.empty()) add_outer(steps, n, left, lag, right, Y, S, sum);
            else add_outer(plain.data(), static_cast<int64_t>(plain.size()), left, lag, right, Y, S, sum);
            const double* lifted = scaled.into(kind);
            for (int64_t i = 0; i < Y * S; ++i) sum[i] *= lifted[i];
            for (int64_t s = 0; s < n; ++s) {
                const int64_t t = steps[s];
                const int32_t row = shape.row_of(t);
                const double *l = left + shape.left_row(t) * S, *r = right + t * S;
                if (logs_at(t)) {
                    add_in_logs(l, r, *log_table, row, kind, sum);
                } else if (row >= 0) {
                    for (int64_t e = shape.single_start[row]; e < shape.single_start[row + 1]; ++e) {
                        const int32_t x = first_of(shape.single[e]), y = second_of(shape.single[e]);
                        sum[x * S + y] += l[x] * r[y] * (scaled.singles[e] - scaled.base[e]);
                    }
                }
            }
        });
        for (int64_t p = 0; p < shape.n_pieces; ++p) {
            double* out = pair_out + shape.piece_kind[p] * Y * Y;
            for (int64_t i = 0; i < Y; ++i)
                for (int64_t j = 0; j < Y; ++j) out[i * Y + j] += sums[(p * Y + i) * S + j];
        }
    }

    void sum_by_row(double* single_out) const {
        const int64_t S = scaled.stride;
        const auto cuts = balanced_cuts(shape.single_start, shape.n_rows, 256);
        parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
            std::vector<double> exact;
            for (int64_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
                const int64_t first = shape.single_start[row], n = shape.single_start[row + 1] - first;
                double* sum = single_out + first;
                const uint32_t* pair = shape.single + first;
                std::fill(sum, sum + n, 0.0);
                exact.assign(in_logs.empty() ? 0 : n, 0.0);
                for (int64_t s = shape.row_start[row]; s < shape.row_start[row + 1]; ++s) {
                    const int64_t t = shape.row_steps[s];
                    const double *l = left + shape.left_row(t) * S, *r = right + t * S;
                    if (logs_at(t))
                        for (int64_t e = 0; e < n; ++e)
                            exact[e] += std::exp(l[first_of(pair[e])] + log_table->singles[first + e] + r[second_of(pair[e])]);
                    else
                        for (int64_t e = 0; e < n; ++e) sum[e] += l[first_of(pair[e])] * r[second_of(pair[e])];
                }
                for (int64_t e = 0; e < n; ++e) sum[e] = sum[e] * scaled.singles[first + e] + (exact.empty() ? 0.0 : exact[e]);
            }
        });
    }
};

inline bool chain_marginals(const ChainShape& shape, const PartScores& scores, double* log_z, const PartSums& out,
                            double* left, double* right, ChainPosterior* kept, int threads) {
    const int64_t Y = shape.n_labels, S = padded(Y), n_tokens = shape.offsets[shape.n_sequences];
    if (kept) {
        kept->n_labels = Y;
        kept->stride = S;
        kept->left.resize(n_tokens * S);
        kept->right.resize(n_tokens * S);
        left = kept->left.data();
        right = kept->right.data();
    }
    MarginalPass pass(shape, scores, left, right, kept != nullptr, threads);
    std::vector<PairSums> sums;
    if (!pass.run(log_z, out.node, sums)) return false;
    std::fill(out.pair, out.pair + shape.n_kinds * Y * Y, 0.0);
    if (pass.at_once) pass.sum_at_once(sums, out.pair);
    else pass.sum_by_kind(out.pair);
    if (shape.n_rows) pass.sum_by_row(out.single);
    if (kept) {
        kept->matrices = pass.scaled.forward;
        kept->singles = pass.scaled.singles;
        kept->in_logs = pass.in_logs;
        if (pass.log_table) {
            kept->log_matrices = pass.log_table->forward;
            kept->log_singles = pass.log_table->singles;
        }
    }
    return true;
}

// p(1 − p) with p(x, y) = p(x) p(y), for weighted marginals: w p (1 − p).
inline double pair_variance(const double* before, const double* here, int64_t x, int64_t y, double weight, double inverse) {
    const double both = before[x] * here[y] * inverse * inverse;
    return weight * both * (1 - both);
}

inline void chain_variances(const ChainShape& shape, const double* marginals, const PartSums& out, int threads) {
    const int64_t Y = shape.n_labels, n_tokens = shape.offsets[shape.n_sequences];
    std::vector<double> weight(n_tokens, 1.0), sums(shape.n_pieces * Y * Y, 0.0);
    if (shape.weight)
        for (int64_t i = 0; i < shape.n_sequences; ++i)
            std::fill(weight.begin() + shape.offsets[i], weight.begin() + shape.offsets[i + 1], shape.weight[i]);
    constexpr int64_t grain = 1024;
    parallel_for((n_tokens + grain - 1) / grain, threads, [&](int64_t piece, int) {
        for (int64_t t = piece * grain; t < std::min(n_tokens, (piece + 1) * grain); ++t) {
            const double inverse = weight[t] > 0 ? 1 / weight[t] : 0.0;
            for (int64_t y = 0; y < Y; ++y) {
                const double m = marginals[t * Y + y];
                out.node[t * Y + y] = weight[t] > 0 ? m * (1 - m * inverse) : 0.0;
            }
        }
    });
    parallel_for(shape.n_pieces, threads, [&](int64_t p, int) {
        double* sum = sums.data() + p * Y * Y;
        for (int64_t s = shape.piece_start[p]; s < shape.piece_start[p + 1]; ++s) {
            const int64_t t = shape.steps[s];
            if (!(weight[t] > 0)) continue;
            const double inverse = 1 / weight[t];
            for (int64_t x = 0; x < Y; ++x)
                for (int64_t y = 0; y < Y; ++y) sum[x * Y + y] += pair_variance(marginals + shape.before(t, 0) * Y, marginals + t * Y, x, y, weight[t], inverse);
        }
    });
    std::fill(out.pair, out.pair + shape.n_kinds * Y * Y, 0.0);
    for (int64_t p = 0; p < shape.n_pieces; ++p)
        for (int64_t i = 0; i < Y * Y; ++i) out.pair[shape.piece_kind[p] * Y * Y + i] += sums[p * Y * Y + i];
    if (!shape.n_rows) return;
    const auto cuts = balanced_cuts(shape.single_start, shape.n_rows, 256);
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        for (int64_t row = cuts[piece]; row < cuts[piece + 1]; ++row) {
            const int64_t first = shape.single_start[row], last = shape.single_start[row + 1];
            std::fill(out.single + first, out.single + last, 0.0);
            for (int64_t s = shape.row_start[row]; s < shape.row_start[row + 1]; ++s) {
                const int64_t t = shape.row_steps[s];
                if (!(weight[t] > 0)) continue;
                const double inverse = 1 / weight[t];
                for (int64_t e = first; e < last; ++e)
                    out.single[e] += pair_variance(marginals + shape.before(t, 0) * Y, marginals + t * Y, first_of(shape.single[e]),
                                                   second_of(shape.single[e]), weight[t], inverse);
            }
        }
    });
}
