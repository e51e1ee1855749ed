// Included once per instruction set, inside a namespace; see kernels.cpp.
//
// Four doubles side by side; the compiler makes of them what the instruction set has.
typedef double Lanes __attribute__((vector_size(32)));

inline Lanes load(const double* p) {
    Lanes v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
inline void store(double* p, Lanes v) { std::memcpy(p, &v, sizeof v); }
inline Lanes spread(double x) { return Lanes{x, x, x, x}; }
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }

// Bits of four doubles, and whether a comparison holds in any lane.
typedef uint64_t LaneBits __attribute__((vector_size(32)));
typedef int64_t LaneMask __attribute__((vector_size(32)));
inline bool any(LaneMask mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

// exp_one (kernels/exp_body.hpp) of four numbers, for sums whose terms the compiler could not take side by side itself.
inline Lanes exponential(Lanes x) {
    const Lanes magic = spread(0x1.8p52), lowest = spread(-708.0), highest = spread(709.0);
    const Lanes y = x < lowest ? lowest : (x > highest ? highest : x);  // what is not a number stays that
    const Lanes shifted = y * spread(0x1.71547652b82fep0) + magic;
    const Lanes n = shifted - magic;
    const Lanes r = (y - n * spread(0x1.62e42fefa0000p-1)) - n * spread(0x1.cf79abc9e3b3ap-40);
    constexpr double factorial[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                    720.0,        120.0,       24.0,       6.0,       2.0,      1.0,     1.0};
    Lanes p = spread(1 / factorial[0]);
#pragma GCC unroll 16
    for (int k = 1; k < 14; ++k) p = p * r + spread(1 / factorial[k]);
    const LaneBits scale = (reinterpret_cast<LaneBits>(shifted) + 1023u) << 52;
    return x < lowest ? spread(0.0) : p * reinterpret_cast<Lanes>(scale);
}
