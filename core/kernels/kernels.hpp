// The hot loops, as a table of functions: one build for any processor and one for x86-64-v3 (AVX2, FMA),
// chosen when the library is loaded. Bodies are in the files *_body.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace parsimon {

// What the functions take has headers of its own; who calls a function includes those that it needs.
class LinearMap;    // maps/linear_map.hpp
struct WeightRows;  // maps/feature_rows.hpp
struct ChainShape;  // chains/chain_shape.hpp
struct PartScores;
struct PartSums;
struct ChainPosterior;  // chains/chain_posterior.hpp
struct WindowWork;      // chains/chain_window.hpp
struct LabelWindow;
struct LabelStep;       // chains/label_step.hpp
class TemplateWeights;  // input/template_weights.hpp
struct SeenTokens;
struct SecondOrderShape;  // chains/second_order_shape.hpp
struct SecondOrderScores;
struct SecondOrderSums;
class ArcWeights;  // dependency_trees/arc_weights.hpp
struct ArcLookups;
struct ScreenBatch;  // kernels/screening.hpp
struct NodeScreenBatch;
struct LowRankQuadratic;  // kernels/low_rank_quadratic.hpp
struct PairedQuadratic;
struct LowRankRows;
struct TallMatrix;

struct Kernels {
    const char* name;

    // out[row][c] = Σ value · w[feature]; overwrites.
    void (*scores)(const LinearMap&, const double* w, double* out, int threads);
    // The same, where the weights of attributes that are handled as whole rows are laid out already.
    void (*scores_from_rows)(const LinearMap&, const double* w, const WeightRows& whole, double* out, int threads);
    // out[feature] += Σ value · mu[row][c], or value² where `squared`.
    void (*pullback)(const LinearMap&, const double* mu, double* out, bool squared, int threads);
    // Columns without gaps: their products with v; out += Σ by · column; and out = a ∘ b.
    void (*column_dots)(const double* const* columns, int64_t n_columns, int64_t n, const double* v, double* out);
    void (*add_columns)(const double* const* columns, const double* by, int64_t n_columns, int64_t n, double* out);
    void (*multiply)(const double* a, const double* b, int64_t n, double* out);

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

    // The same for second-order chains, whose outputs are tags; `add` is false where a pair of tags is not there.
    bool (*second_order_marginals)(const SecondOrderShape&, const SecondOrderScores&, double* log_z,
                                   const SecondOrderSums& out, int threads);
    void (*second_order_variances)(const SecondOrderShape&, const double* marginals, const SecondOrderSums& out,
                                   int threads);
    void (*second_order_score)(const SecondOrderShape&, const SecondOrderScores&, const int32_t* tags, double* out);
    bool (*second_order_add)(const SecondOrderShape&, const int32_t* tags, double times, const SecondOrderSums& parts);
    bool (*second_order_argmax)(const SecondOrderShape&, const SecondOrderScores&, double* best, int32_t* tags,
                                int threads);
    void (*second_order_kbest)(const SecondOrderShape&, const SecondOrderScores&, int32_t k, double* scores,
                               int32_t* tags, int threads);
    bool (*second_order_sample)(const SecondOrderShape&, const SecondOrderScores&, uint64_t seed, int32_t n_draws,
                                int32_t* tags, int threads);

    // Marginals of the tokens in a window of one sequence (in `node`), and α of the tokens before and `right`, for
    // those of pairs (see ChainPosterior). Steps have the matrices and the single pairs of work.rows.
    bool (*chain_window)(WindowWork& work, const double* scores, int64_t length, int32_t n_labels, LabelWindow window,
                         double weight);

    // Straight from what templates see: scores [T][Y]; the best labels [T]; node marginals [T][Y] with log Z per
    // sequence. All steps are scored alike; `given` are labels that are certain (−1 for none), or null. False: some
    // sequence has no output with a finite score.
    void (*template_scores)(const TemplateWeights&, const SeenTokens&, double* out, int threads);
    bool (*template_labels)(const TemplateWeights&, const SeenTokens&, const LabelStep&, const int32_t* given,
                            int32_t* labels, int threads);
    bool (*template_marginals)(const TemplateWeights&, const SeenTokens&, const LabelStep&, const int32_t* given,
                               double* out, double* log_z, int threads);

    // What arcs score by the weights of templates that look at the same ends; and what the codes of a token's arcs
    // score by those that look at the token alone.
    void (*add_arc_sums)(const ArcWeights&, const ArcLookups&);
    void (*add_token_sums)(const ArcWeights&, uint64_t key, uint32_t codes, double* sums);

    // All features of label pairs, or of labels, whose gradient is above a threshold: ascending, with their gradients.
    void (*screen_pairs)(const std::vector<ScreenBatch>&, double threshold, std::vector<int64_t>& features,
                         std::vector<double>& gradients, int threads);
    void (*screen_nodes)(const std::vector<NodeScreenBatch>&, double threshold, std::vector<int64_t>& features,
                         std::vector<double>& gradients, int threads);

    // Sweeps of coordinate descent on a quadratic with a diagonal plus low-rank matrix and an L1 norm; see
    // quadratic_descent_body.hpp.
    void (*descend)(const LowRankQuadratic&, const double* w, const double* l1, int sweeps, double* d, double* moment);

    // Rows of W = [D S, Y], for some of a model's features; see paired_rows_body.hpp.
    void (*paired_slopes)(const PairedQuadratic&, const int64_t* member, int64_t n, const double* p, const double* w,
                          const double* x, double* out);
    void (*paired_moments)(const PairedQuadratic&, const int64_t* member, int64_t n, const double* step, double* out);
    void (*paired_products)(const PairedQuadratic&, const int64_t* member, int64_t n, const double* scale,
                            const double* x, const double* slope, double* out);
    // What such a model is made of, and products with the tall matrices in it; see tall_matrix_body.hpp.
    void (*quadratic_rows)(const TallMatrix& pairs, const int64_t* chosen, int64_t used, const double* inverse,
                           double least, const LowRankRows& out, int threads);
    void (*tall_times)(const TallMatrix&, const double* z, double* out, int threads);
    void (*tall_transposed_times)(const TallMatrix&, const double* x, double* out, int threads);
    void (*tall_gram)(const TallMatrix&, const double* weight, double* out, int threads);
    void (*take_pair)(double* rows, int64_t n, int64_t width, int64_t slot, const double* s, const double* y,
                      const double* diagonal, double* out, int threads);
    void (*pseudo_gradient)(const double* w, const double* gradient, const double* l1, int64_t n, double* out);

    // A sum in a fixed order, whatever BLAS there is and however many threads it has.
    double (*dot)(const double* a, const double* b, int64_t n);
    void (*exponentials)(double* x, int64_t n);
};

const Kernels& kernels();           // the best for this processor
const Kernels& baseline_kernels();  // for any processor

}  // namespace parsimon
