// The semirings of dynamic programs, and products of vectors and matrices over them. Included once per instruction set,
// inside a namespace; see kernels.cpp.
//
// Scaled:  ordinary sums and products of exp(score − max), α normalised at every token (so Y exponentials a
//          token, not Y²).
// Log:     log-sum-exp of the scores themselves; several times slower, but exact for any scores; used for sequences
//          whose scores spread so far that the scaled recursion could lose something (see `safe_spread`).
// Max:     max and plus; Viterbi.

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Scaled sums lose a label only when its part of α underflows, e^-708. Before it is scaled, that part is at least
// e^-(spread of node scores + twice the spread of pair scores) / Y, so nothing is lost when that stays well above.
//
// A label whose node score lies D below the best of its token cannot matter when D is much larger than what the pairs
// can make up for: with the best label in its place an output loses at most the spread of pair scores for every
// neighbour, so the label's marginal is below Y e^(neighbours · spread − D). What can matter, D ≤ neighbours · spread +
// `irrelevant`, is safe by the bound above if that and twice the spread are within `safe_spread`; then D may be
// anything. See `node_limit`.
//
// Where pairs are forbidden there are no such bounds (labels that cannot reach each other drift apart), so α itself is
// watched: a label that can be reached must keep a share above `smallest_share`.
constexpr double safe_spread = 600.0, smallest_share = 1e-150, irrelevant = 60.0;
// A sum of scaled numbers below this has lost digits to underflow, or is zero because nothing is possible.
constexpr double smallest_sum = 1e-280;

// How far the node scores of a token with so many neighbours may spread for scaled sums to do.
template <class Table>
double node_limit(const Table& table, int64_t neighbours) {
    if (!table.forbidden && static_cast<double>(neighbours + 2) * table.spread + irrelevant <= safe_spread)
        return std::numeric_limits<double>::infinity();
    return safe_spread - 2 * table.spread;
}

struct Scaled {
    static constexpr double zero = 0.0, one = 1.0;
    static constexpr bool scaled = true, shifted = false;
    static double lift(double score, double shift) { return exp_one(score - shift); }
    template <class Lattice>
    static double weighted(double a, double weight, const Lattice& lattice) {
        return a * weight * lattice.share;
    }
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
    static double weighted(double a, double weight, const Lattice& lattice) {
        return a + std::log(weight) - lattice.share;
    }
    static double marginal(double alpha, double beta) { return std::exp(alpha + beta); }
    static double over(double a, double b) { return b == minus_infinity ? b : a - b; }
    static double times(double a, double b) { return a + b; }
};

// out[j] = ⊕_i left[i] ⊗ matrix[i][j] for 4·W columns that stay in registers.
template <class Semiring, int W>
void product_columns(const double* left, const double* matrix, int64_t n, int64_t stride, double* out) {
    Lanes sum[W];
#pragma GCC unroll 8
    for (int j = 0; j < W; ++j) sum[j] = spread(Semiring::zero);
    int64_t i = 0;
    if constexpr (Semiring::scaled && W <= 6) {  // every other row in sums of its own: half as long to wait for
        Lanes odd[W];
#pragma GCC unroll 8
        for (int j = 0; j < W; ++j) odd[j] = spread(Semiring::zero);
        for (; i + 2 <= n; i += 2) {
            const Lanes l = spread(left[i]), m = spread(left[i + 1]);
            const double *row = matrix + i * stride, *next = row + stride;
#pragma GCC unroll 8
            for (int j = 0; j < W; ++j) sum[j] = Semiring::fold(sum[j], l, load(row + 4 * j));
#pragma GCC unroll 8
            for (int j = 0; j < W; ++j) odd[j] = Semiring::fold(odd[j], m, load(next + 4 * j));
        }
#pragma GCC unroll 8
        for (int j = 0; j < W; ++j) sum[j] += odd[j];
    }
    for (; i < n; ++i) {
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

// ⊕ over labels of a ⊗ b.
template <class Semiring>
double sum_of_products(const double* a, const double* b, int64_t n) {
    double sum = Semiring::zero;
    for (int64_t i = 0; i < n; ++i) sum = Semiring::fold(sum, a[i], b[i]);
    return sum;
}

// The same three in logs, where every sum is taken relative to its largest term: Y logarithms, not Y², and exponentials
// side by side.

// A term that is smaller than the largest one by this factor, e^-60, is lost in the rounding of their sum.
constexpr double negligible = -60.0;

// out[j] = log Σ_i exp(left[i] + matrix[i][j]) for 4·W columns: first the largest terms, then sums relative to them.
template <int W>
void log_product_columns(const double* left, const double* matrix, int64_t n, int64_t stride, double* out) {
    Lanes high[W], sum[W];
    for (int j = 0; j < W; ++j) high[j] = spread(minus_infinity), sum[j] = spread(0.0);
    for (int64_t i = 0; i < n; ++i)
        for (int j = 0; j < W; ++j) high[j] = larger(high[j], spread(left[i]) + load(matrix + i * stride + 4 * j));
    for (int j = 0; j < W; ++j) high[j] = high[j] == spread(minus_infinity) ? spread(0.0) : high[j];
    for (int64_t i = 0; i < n; ++i)
        for (int j = 0; j < W; ++j) {
            const Lanes x = spread(left[i]) + load(matrix + i * stride + 4 * j) - high[j];
            if (any(~(x < spread(negligible)))) sum[j] += exponential(x);
        }
    for (int j = 0; j < W; ++j)
        for (int lane = 0; lane < 4; ++lane) out[4 * j + lane] = high[j][lane] + std::log(sum[j][lane]);
}

template <>
inline void product<Log>(const double* left, const double* matrix, int64_t n, int64_t stride, double* out) {
    int64_t j = 0;
    for (; j + 8 <= stride; j += 8) log_product_columns<2>(left, matrix + j, n, stride, out + j);
    if (j < stride) log_product_columns<1>(left, matrix + j, n, stride, out + j);
}

// log Σ exp(term) over n terms: lanes(i) is the four from i on, one(i) a single one.
template <class FourTerms, class OneTerm>
double log_sum(int64_t n, FourTerms&& lanes, OneTerm&& one) {
    Lanes highs = spread(minus_infinity), sums = spread(0.0);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) highs = larger(highs, lanes(i));
    double high = std::max(std::max(highs[0], highs[1]), std::max(highs[2], highs[3]));
    for (; i < n; ++i) high = std::max(high, one(i));
    if (high == minus_infinity) high = 0;
    for (i = 0; i + 4 <= n; i += 4) sums += exponential(lanes(i) - spread(high));
    double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; i < n; ++i) sum += exp_one(one(i) - high);
    return high + std::log(sum);
}

template <>
inline double sum_of_products<Log>(const double* a, const double* b, int64_t n) {
    return log_sum(n, [=](int64_t i) { return load(a + i) + load(b + i); }, [=](int64_t i) { return a[i] + b[i]; });
}

template <>
inline double total<Log>(const double* left, int64_t n, int64_t) {
    return log_sum(n, [=](int64_t i) { return load(left + i); }, [=](int64_t i) { return left[i]; });
}
