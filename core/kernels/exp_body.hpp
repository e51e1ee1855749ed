// exp(x) that the compiler can vectorise; relative error below 2⁻⁵² · 1.5. Zero below −708 (and for −∞),
// where the true value is under 4e-308.
//
// x = n·ln 2 + r with |r| ≤ ln 2 / 2; exp(r) by its Taylor polynomial of degree 13 (remainder 4e-18);
// 2ⁿ is put together from its bits: adding 1.5·2⁵² leaves n in the low bits of the sum.
inline double exp_one(double x) {
    constexpr double magic = 0x1.8p52;
    constexpr double log2e = 0x1.71547652b82fep0, ln2_hi = 0x1.62e42fefa0000p-1, ln2_lo = 0x1.cf79abc9e3b3ap-40;
    const double y = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
    const double shifted = y * log2e + magic;
    const double n = shifted - magic;
    const double r = (y - n * ln2_hi) - n * ln2_lo;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const auto bits = (std::bit_cast<uint64_t>(shifted) + 1023u) << 52;
    const double value = p * std::bit_cast<double>(bits);
    return x < -708.0 ? 0.0 : value;
}

inline void exponentials(double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = exp_one(x[i]);
}
