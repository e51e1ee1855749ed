// The semirings of dynamic programs, and products of vectors and matrices over them. Included once per instruction set,
// inside a namespace; see kernels.cpp.
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
// A sum of scaled numbers below this has lost digits to underflow, or is zero because nothing is possible.
constexpr double smallest_sum = 1e-280;

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
