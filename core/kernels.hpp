// The hot loops, as a table of functions: one build for any processor and one for x86-64-v3 (AVX2, FMA),
// chosen when the library is loaded. Bodies are in the files *_body.hpp.
#pragma once

#include <cstdint>

#include "linear_map.hpp"

namespace parsimon {

// Sequences laid end to end, Y labels. Label pairs are scored by a table of Y × Y matrices; the step into
// token t (from t − 1) uses matrix pair_kind[t]. The first token of a sequence has no step into it.
struct ChainShape {
    int64_t n_sequences;
    const int64_t* offsets;      // [n_sequences + 1]
    int32_t n_labels;            // Y
    int64_t n_kinds;             // K
    const int32_t* pair_kind;    // [T]
    const double* weight;        // [n_sequences]: what each sequence's marginals count for; null for ones
    // Steps grouped by kind, in pieces of bounded length, for summing pair marginals in a fixed order.
    int64_t n_pieces;
    const int64_t* piece_start;  // [n_pieces + 1] into steps
    const int32_t* piece_kind;   // [n_pieces]
    const int32_t* steps;        // token t of each step, grouped
};

// q(d) = g·d + ½ dᵀ (diag D − W M⁻¹ Wᵀ) d. `projected` is W M⁻¹, `curvature` the diagonal of the whole matrix.
struct LowRankQuadratic {
    int64_t n, rank;
    const double *gradient, *diagonal, *curvature;  // [n]
    const double *columns, *projected;              // [n][rank]
};

// Rows of Y numbers are padded to whole vectors of four.
inline int64_t padded(int64_t n_labels) { return (n_labels + 3) / 4 * 4; }

struct Kernels {
    const char* name;

    // out[row][c] = Σ value · w[feature]; overwrites.
    void (*scores)(const LinearMap&, const double* w, double* out, int threads);
    // out[feature] += Σ value · mu[row][c], or value² where `squared`.
    void (*pullback)(const LinearMap&, const double* mu, double* out, bool squared, int threads);

    // log Z per sequence; node marginals [T][Y] and pair marginals summed by kind [K][Y][Y].
    // node_out may be the same array as node. Scratch: [T][padded Y], twice.
    // False: some sequence has no output with a finite score.
    bool (*chain_marginals)(const ChainShape&, const double* node, const double* pair, double* log_z,
                            double* node_out, double* pair_out, double* left, double* right, int threads);
    // From (weighted) node marginals, the variances of parts: p(1 − p) of every node, and of every pair, summed by kind,
    // with p(x, y) taken as p(x) p(y).
    void (*chain_variances)(const ChainShape&, const double* marginals, double* node_out, double* pair_out, int threads);
    // The score of given labels [T], per sequence.
    void (*chain_score)(const ChainShape&, const double* node, const double* pair, const int32_t* labels, double* out,
                        int threads);
    // node += times · weight and pair += times · weight at the parts of given labels [T].
    void (*chain_add)(const ChainShape&, const int32_t* labels, double times, double* node, double* pair);
    // The best labels [T] and their score per sequence.
    bool (*chain_argmax)(const ChainShape&, const double* node, const double* pair, double* best,
                         int32_t* labels, int threads);
    // The k best outputs: labels [k][T] and scores [k][n_sequences] (−∞ where there are fewer than k).
    void (*chain_kbest)(const ChainShape&, const double* node, const double* pair, int32_t k, double* scores,
                        int32_t* labels, int threads);
    // Draws from p(y) ∝ exp(score): labels [n_draws][T].
    bool (*chain_sample)(const ChainShape&, const double* node, const double* pair, uint64_t seed, int32_t n_draws,
                         int32_t* labels, int threads);

    // Sweeps of coordinate descent on a quadratic with a diagonal plus low-rank matrix and an L1 norm; see
    // descent_body.hpp.
    void (*descend)(const LowRankQuadratic&, const double* w, const double* l1, int sweeps, double* d, double* moment);

    // A sum in a fixed order, whatever BLAS there is and however many threads it has.
    double (*dot)(const double* a, const double* b, int64_t n);
    void (*exponentials)(double* x, int64_t n);
};

const Kernels& kernels();           // the best for this processor
const Kernels& baseline_kernels();  // for any processor

}  // namespace parsimon
