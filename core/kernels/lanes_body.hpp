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
