// The hot loops, as a table of functions: one build for any processor and one for x86-64-v3 (AVX2, FMA),
// chosen when the library is loaded. Bodies are in the files *_body.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

// Two labels in one number.
constexpr int64_t most_labels = 1 << 16;
inline uint32_t pair_of(uint32_t x, uint32_t y) { return x << 16 | y; }
inline int32_t first_of(uint32_t pair) { return static_cast<int32_t>(pair >> 16); }
inline int32_t second_of(uint32_t pair) { return static_cast<int32_t>(pair & 0xFFFF); }

// Sequences laid end to end, Y labels. Label pairs are scored by a table of Y × Y matrices; the step into
// token t (from t − 1) uses matrix pair_kind[t]. The first token of a sequence has no step into it.
//
// With hundreds of labels and few weights that are not zero, whole matrices would be a waste. So a step may also have
// single pairs, whose scores are added to those of its matrix: the scores of steps with the same `row` are the same.
struct ChainShape {
    int64_t n_sequences;
    const int64_t* offsets;    // [n_sequences + 1]
    int32_t n_labels;          // Y
    int64_t n_kinds;           // K
    const int32_t* pair_kind;  // [T]; −1 for no matrix: all its scores are zero
    const double* weight;      // [n_sequences]: what each sequence's marginals count for; null for ones
    // Steps grouped by kind, in pieces of bounded length, for summing pair marginals in a fixed order.
    int64_t n_pieces;
    const int64_t* piece_start;  // [n_pieces + 1] into steps
    const int32_t* piece_kind;   // [n_pieces]
    const int32_t* steps;        // token t of each step, grouped
    // Single pairs.
    int64_t n_rows = 0;                     // R
    const int32_t* row = nullptr;           // [T]; −1 for none; null if there are none at all
    const int32_t* row_kind = nullptr;      // [R]: all steps of a row have this matrix
    const int64_t* single_start = nullptr;  // [R + 1] into single
    const uint32_t* single = nullptr;       // [E]: pair_of(x, y), ascending within a row
    const int64_t* row_start = nullptr;     // [R + 1] into row_steps
    const int32_t* row_steps = nullptr;     // token t of each step, grouped by row

    // Trees: the step into a node comes from its parent. Null for chains, where it comes from the token before.
    const int32_t* parent = nullptr;       // [T]; −1 for roots, of which an instance may have several
    const int32_t* order = nullptr;        // [T]: all nodes of each instance, parents before their children
    const int64_t* child_start = nullptr;  // [T + 1] into children
    const int32_t* children = nullptr;     // in the order of `order`
    // Labels that some kinds of nodes cannot have.
    const int32_t* node_kind = nullptr;  // [T]
    const double* bars = nullptr;        // [node kinds][Y]: 0, or −∞ for a label that such nodes cannot have

    // Where the step into t comes from; −1 for the first token of a sequence (number `first`) and for roots.
    int64_t before(int64_t t, int64_t first) const { return parent ? parent[t] : t > first ? t - 1 : -1; }
    // The row of `left` (see ChainPosterior) for the step into t.
    int64_t left_row(int64_t t) const { return parent ? t : t - 1; }
    const double* bars_of(int64_t t) const {
        return bars ? bars + static_cast<int64_t>(node_kind[t]) * n_labels : nullptr;
    }

    int64_t n_singles() const { return n_rows ? single_start[n_rows] : 0; }
    int32_t row_of(int64_t t) const { return row ? row[t] : -1; }
    // Where a pair of labels is among a row's singles; −1 if it is not.
    int64_t find(int32_t r, uint32_t pair) const {
        if (r < 0) return -1;
        const uint32_t *first = single + single_start[r], *last = single + single_start[r + 1];
        const uint32_t* at = std::lower_bound(first, last, pair);
        return at != last && *at == pair ? at - single : -1;
    }
};

// A number for every part: nodes [T][Y], matrices of pairs [K][Y][Y], single pairs [E].
struct PartScores {
    const double *node, *pair, *single = nullptr;
};
struct PartSums {
    double *node, *pair, *single = nullptr;
};

// Where log Z and marginals come from, kept for looking at any pair of labels later:
//
//     P(y_{t−1} = x, y_t = y) = left[t − 1][x] · pair[t](x, y) · right[t][y]
//
// with pair scores lifted (see pair_table_body.hpp). Sequences done in logs have logarithms of all three. In trees
// left[t] takes the place of left[t − 1]: a node's children have each their own.
struct ChainPosterior {
    int64_t n_labels = 0, stride = 0;
    std::vector<double> left, right;  // [T][stride]
    std::vector<double> matrices;     // [K][Y][stride]
    std::vector<double> singles;      // [E]: with their matrix's share in it
    std::vector<char> in_logs;        // [T]; empty if no sequence is
    std::vector<double> log_matrices, log_singles;
};

// The tokens whose marginals are wanted, from first to last.
struct LabelWindow {
    int64_t first, last;
};

// The matrix of attributes that fire everywhere, and its transpose; lifted, and as scores (for sums in logs).
struct CachedMatrix {
    std::vector<double> lifted, lifted_back, score, score_back;  // [Y][stride]
    double low = 0, high = 0;
    bool stale = true;
};

// The pairs at steps with the same attributes that are not zero: scores (on top of the matrix), and their exponentials.
struct CachedRow {
    std::vector<uint32_t> pair;
    std::vector<double> score, lifted;
    double low = 0, high = 0;
    bool loses_digits = false, stale = true;
    const CachedMatrix* matrix = nullptr;
};

// What one look at a sequence needs and leaves behind; one a thread.
struct WindowWork {
    std::vector<const CachedRow*> rows;      // [T]: of the step into each token
    std::vector<double> alpha, right, node;  // [T][stride], [T][stride], [T][Y]
    std::shared_ptr<void> lattice;           // the recursion's own
};

// What the gradient of label pairs is made of, for one batch: Σ over terms of sign · P(x, y) + Σ over outputs of
// times · [output is x, y], at the steps of distinct rows of attributes.
struct ScreenTerm {
    double sign;
    const ChainPosterior* posterior;
    const double* node;  // [T][Y]: marginals of nodes
};
struct ScreenOutput {
    const double* times;    // [T]
    const int32_t* labels;  // [T]
};
struct ScreenBatch {
    const LinearMap* steps;    // distinct rows × attributes, all features
    const int64_t* row_start;  // the steps of each of these rows
    const int32_t* row_steps;
    ChainShape shape;  // what the posteriors were computed with
    std::vector<ScreenTerm> terms;
    std::vector<ScreenOutput> outputs;
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

    // log Z per sequence; node marginals [T][Y], pair marginals summed by kind [K][Y][Y] and those of single pairs
    // summed by row [E]. node_out may be the same array as node. Scratch: [T][padded Y], twice, unless there is a
    // posterior to be kept, which brings its own. False: some sequence has no output with a finite score.
    bool (*chain_marginals)(const ChainShape&, const PartScores&, double* log_z, const PartSums& out, double* left,
                            double* right, ChainPosterior* kept, int threads);
    // From (weighted) node marginals, the variances of parts: p(1 − p) of every node, and of every pair, summed by kind
    // (or by row), with p(x, y) taken as p(x) p(y).
    void (*chain_variances)(const ChainShape&, const double* marginals, const PartSums& out, int threads);
    // The score of given labels [T], per sequence.
    void (*chain_score)(const ChainShape&, const PartScores&, const int32_t* labels, double* out, int threads);
    // parts += times · weight at the parts of given labels [T].
    void (*chain_add)(const ChainShape&, const int32_t* labels, double times, const PartSums& parts);
    // The best labels [T] and their score per sequence.
    bool (*chain_argmax)(const ChainShape&, const PartScores&, double* best, int32_t* labels, int threads);
    // The k best outputs: labels [k][T] and scores [k][n_sequences] (−∞ where there are fewer than k).
    void (*chain_kbest)(const ChainShape&, const PartScores&, int32_t k, double* scores, int32_t* labels, int threads);
    // Draws from p(y) ∝ exp(score): labels [n_draws][T].
    bool (*chain_sample)(const ChainShape&, const PartScores&, uint64_t seed, int32_t n_draws, int32_t* labels,
                         int threads);

    // The same for trees. (What is above these three takes chains and trees.)
    bool (*tree_argmax)(const ChainShape&, const PartScores&, double* best, int32_t* labels, int threads);
    void (*tree_kbest)(const ChainShape&, const PartScores&, int32_t k, double* scores, int32_t* labels, int threads);
    bool (*tree_sample)(const ChainShape&, const PartScores&, uint64_t seed, int32_t n_draws, int32_t* labels,
                        int threads);

    // Marginals of the tokens in a window of one sequence (in `node`), and α of the tokens before and `right`, for
    // those of pairs (see ChainPosterior). Steps have the matrices and the single pairs of work.rows.
    bool (*chain_window)(WindowWork& work, const double* scores, int64_t length, int32_t n_labels, LabelWindow window,
                         double weight);

    // All features of label pairs, or of labels, whose gradient is above a threshold: ascending, with their gradients.
    void (*screen_pairs)(const std::vector<ScreenBatch>&, double threshold, std::vector<int64_t>& features,
                         std::vector<double>& gradients, int threads);
    void (*screen_nodes)(const std::vector<const LinearMap*>&, const std::vector<const double*>& parts,
                         double threshold, std::vector<int64_t>& features, std::vector<double>& gradients, int threads);

    // Sweeps of coordinate descent on a quadratic with a diagonal plus low-rank matrix and an L1 norm; see
    // quadratic_descent_body.hpp.
    void (*descend)(const LowRankQuadratic&, const double* w, const double* l1, int sweeps, double* d, double* moment);

    // A sum in a fixed order, whatever BLAS there is and however many threads it has.
    double (*dot)(const double* a, const double* b, int64_t n);
    void (*exponentials)(double* x, int64_t n);
};

const Kernels& kernels();           // the best for this processor
const Kernels& baseline_kernels();  // for any processor

}  // namespace parsimon
