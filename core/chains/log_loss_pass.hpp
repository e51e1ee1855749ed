// The log loss of chains or trees, log Z − s(gold), and its derivatives by the weights: one pass over all batches.
//
// A batch is done by one thread from scores to gradient, so threads wait for each other once a pass, and what a batch
// needs stays in the thread's cache. Batches are parted into groups, each with a gradient of its own, and these are
// added up in order. How many groups there are does not depend on the number of threads, so neither do the bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "chains/chain_shape.hpp"
#include "kernels/kernels.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

struct LossBatch {
    const LinearMap *node, *pair, *single;  // tokens × labels, matrices of label pairs, single pairs
    ChainShape shape;
    const int32_t* gold;  // [T]

    int64_t n_tokens() const { return shape.offsets[shape.n_sequences]; }
};

// Where results go. Arrays of batches have a number for each of its sequences, or for each label of each token.
struct LossSums {
    double* loss;                    // [batches]: Σ weight · loss
    std::vector<double*> log_z;      // [batches][sequences]
    std::vector<double*> marginals;  // [batches][T][Y], or empty
    double* gradient;                // [features]
    double* curvature;               // [features], the diagonal of the Hessian, or nearly; or null
};

class LogLossPass {
  public:
    // A pass has as many gradients as there are groups, all in all with at most so many numbers; where that leaves
    // fewer groups than threads, threads share batches.
    static constexpr int64_t most_groups = 16, most_numbers = int64_t{1} << 24;

    explicit LogLossPass(std::vector<LossBatch> batches) : batches_(std::move(batches)) {
        if (batches_.empty()) return;
        n_node_ = batches_[0].node->features().size();
        n_features_ = n_node_ + batches_[0].pair->features().size();
        std::vector<int64_t> cost{0};
        for (const LossBatch& batch : batches_) {
            cost.push_back(cost.back() + 32 * batch.n_tokens() + batch.node->rows().entries());
            n_node_scores_ = std::max(n_node_scores_, batch.n_tokens() * batch.shape.n_labels);
            n_tokens_ = std::max(n_tokens_, batch.n_tokens());
        }
        const int64_t room = std::max<int64_t>(1, most_numbers / std::max<int64_t>(1, n_features_));
        cuts_ = balanced_cuts(cost.data(), static_cast<int64_t>(batches_.size()), std::min(room, most_groups));
        const FeatureRows& features = batches_[0].node->features();
        if (!features.all) whole_ = WholeAttributes::of(features);
    }

    const std::vector<LossBatch>& batches() const { return batches_; }
    int64_t n_features() const { return n_features_; }

    // Σ loss and its derivatives; the number of a batch with a sequence that has no output with a finite score, or −1.
    int64_t evaluate(const double* w, const LossSums& out, int threads) {
        const std::lock_guard<std::mutex> hold(lock_);
        if (batches_.empty()) return -1;
        const FeatureRows& features = batches_[0].node->features();
        std::pair<std::vector<double>, std::vector<int32_t>> filled;
        if (!features.all) filled = whole_.laid_out(features, w);
        const WeightRows rows =
            features.all ? WeightRows{w, nullptr} : WeightRows{filled.first.data(), filled.second.data()};
        std::atomic<int64_t> failed{-1};
        in_groups(out.gradient, out.curvature, threads,
                  [&](int64_t b, double* gradient, double* curvature, Desk& desk, int inner) {
                      if (!one(b, w, rows, out, gradient, curvature, desk, inner)) failed = b;
                  });
        return failed;
    }

    // out = (Φ∘Φ)ᵀ p(1 − p), from marginals of labels.
    void diagonal(const std::vector<const double*>& marginals, double* out, int threads) {
        const std::lock_guard<std::mutex> hold(lock_);
        in_groups(out, nullptr, threads, [&](int64_t b, double* sum, double*, Desk& desk, int inner) {
            variances(batches_[b], marginals[b], {}, sum, desk, inner);
        });
    }

  private:
    // What one thread works with.
    struct Desk {
        std::vector<double> node, pair, pair_out, single, single_out, scratch, attained;
        template <class T>
        static double* room(std::vector<T>& values, int64_t n) {
            if (static_cast<int64_t>(values.size()) < n) values.resize(n);
            return values.data();
        }
    };

    // body(batch, gradient, curvature, desk, threads within a batch) for all batches, and the sums over groups.
    template <class Body>
    void in_groups(double* gradient, double* curvature, int threads, Body&& body) {
        const auto n_groups = static_cast<int64_t>(cuts_.size()) - 1;
        std::fill(gradient, gradient + n_features_, 0.0);
        if (curvature) std::fill(curvature, curvature + n_features_, 0.0);
        if (n_groups < 1) return;
        const int64_t others = n_groups - 1;
        if (static_cast<int64_t>(gradients_.size()) < others * n_features_) gradients_.resize(others * n_features_);
        std::vector<double> curvatures(curvature ? others * n_features_ : 0);
        const int inner = std::max(1, threads / static_cast<int>(n_groups));
        const int workers = static_cast<int>(std::min<int64_t>(std::max(threads, 1), n_groups));
        if (static_cast<int>(desks_.size()) < workers) desks_.resize(workers);
        parallel_for(n_groups, workers, [&](int64_t g, int worker) {
            double* mine = g ? gradients_.data() + (g - 1) * n_features_ : gradient;
            double* bent = !curvature ? nullptr : g ? curvatures.data() + (g - 1) * n_features_ : curvature;
            if (g) std::fill(mine, mine + n_features_, 0.0);
            for (int64_t b = cuts_[g]; b < cuts_[g + 1]; ++b) body(b, mine, bent, desks_[worker], inner);
        });
        add_up(gradients_.data(), others, gradient, threads);
        if (curvature) add_up(curvatures.data(), others, curvature, threads);
    }

    // to += the sums of the other groups, in their order.
    void add_up(const double* sums, int64_t others, double* to, int threads) const {
        constexpr int64_t piece = 4096;
        if (!others) return;
        parallel_for((n_features_ + piece - 1) / piece, threads, [&](int64_t p, int) {
            const int64_t first = p * piece, last = std::min(n_features_, first + piece);
            for (int64_t g = 0; g < others; ++g)
                for (int64_t k = first; k < last; ++k) to[k] += sums[g * n_features_ + k];
        });
    }

    bool one(int64_t b, const double* w, const WeightRows& rows, const LossSums& out, double* gradient,
             double* curvature, Desk& desk, int threads) const {
        const LossBatch& batch = batches_[b];
        const ChainShape& shape = batch.shape;
        const Kernels& run = kernels();
        const int64_t Y = shape.n_labels, n = batch.n_tokens(), cells = shape.n_kinds * Y * Y,
                      singles = shape.n_singles(), padded_tokens = n * padded(Y);
        const double* v = w + n_node_;
        double *node = Desk::room(desk.node, n_node_scores_), *pair = Desk::room(desk.pair, cells),
               *single = Desk::room(desk.single, singles), *pair_out = Desk::room(desk.pair_out, cells),
               *single_out = Desk::room(desk.single_out, singles), *log_z = out.log_z[b],
               *attained = Desk::room(desk.attained, shape.n_sequences),
               *left = Desk::room(desk.scratch, 2 * n_tokens_ * padded(Y));
        if (&batch.node->features() == &batches_[0].node->features())
            run.scores_from_rows(*batch.node, w, rows, node, threads);
        else run.scores(*batch.node, w, node, threads);
        run.scores(*batch.pair, v, pair, threads);
        if (singles) run.scores(*batch.single, v, single, threads);
        const PartScores scores{node, pair, single};
        const PartSums parts{node, pair_out, single_out};
        run.chain_score(shape, scores, batch.gold, attained, threads);
        if (!run.chain_marginals(shape, scores, log_z, parts, left, left + padded_tokens, nullptr, threads))
            return false;
        if (!out.marginals.empty()) std::copy(node, node + n * Y, out.marginals[b]);
        double loss = 0;
        for (int64_t i = 0; i < shape.n_sequences; ++i)
            loss += (shape.weight ? shape.weight[i] : 1.0) * (log_z[i] - attained[i]);
        out.loss[b] = loss;
        // The marginals of labels are needed for the variances, and the difference to gold for the gradient.
        if (curvature) variances(batch, node, most_pairs(batch, parts, desk), curvature, desk, threads);
        run.chain_add(shape, batch.gold, -1.0, parts);
        pull_back(batch, parts, gradient, false, threads);
        return true;
    }

    void pull_back(const LossBatch& batch, const PartSums& parts, double* out, bool squared, int threads) const {
        const Kernels& run = kernels();
        run.pullback(*batch.node, parts.node, out, squared, threads);
        run.pullback(*batch.pair, parts.pair, out + n_node_, squared, threads);
        if (batch.shape.n_singles()) run.pullback(*batch.single, parts.single, out + n_node_, squared, threads);
    }

    // How often each pair of labels is expected or there in gold, whichever is more: matrices, then single pairs. What
    // is taken from marginals of single labels is thousands of times as much for pairs that never occur.
    std::vector<double> most_pairs(const LossBatch& batch, const PartSums& expected, Desk& desk) const {
        const ChainShape& shape = batch.shape;
        const int64_t Y = shape.n_labels, cells = shape.n_kinds * Y * Y, singles = shape.n_singles();
        std::vector<double> most(cells + singles, 0.0);
        double* node = Desk::room(desk.scratch, 2 * n_tokens_ * padded(Y));
        kernels().chain_add(shape, batch.gold, 1.0, {node, most.data(), most.data() + cells});
        for (int64_t i = 0; i < cells; ++i) most[i] = std::max(most[i], expected.pair[i]);
        for (int64_t i = 0; i < singles; ++i) most[cells + i] = std::max(most[cells + i], expected.single[i]);
        return most;
    }

    // out += (Φ∘Φ)ᵀ p(1 − p) of one batch, and for pairs of labels at most so much, if that is known. The desk's
    // scratch is free by now, that of nodes may hold the marginals.
    void variances(const LossBatch& batch, const double* marginals, const std::vector<double>& most, double* out,
                   Desk& desk, int threads) const {
        const ChainShape& shape = batch.shape;
        const int64_t Y = shape.n_labels;
        std::vector<double> pair(shape.n_kinds * Y * Y), single(shape.n_singles());
        double* node = Desk::room(desk.scratch, 2 * n_tokens_ * padded(Y));
        const PartSums bent{node, pair.data(), single.data()};
        kernels().chain_variances(shape, marginals, bent, threads);
        if (!most.empty()) {
            for (size_t i = 0; i < pair.size(); ++i) pair[i] = std::min(pair[i], most[i]);
            for (size_t i = 0; i < single.size(); ++i) single[i] = std::min(single[i], most[pair.size() + i]);
        }
        pull_back(batch, bent, out, true, threads);
    }

    std::vector<LossBatch> batches_;
    std::vector<int64_t> cuts_;  // of batches into groups
    WholeAttributes whole_;      // of the first batch, and of all that share its features
    int64_t n_node_ = 0, n_features_ = 0, n_node_scores_ = 0, n_tokens_ = 0;
    std::vector<double> gradients_;  // of all groups but the first
    std::vector<Desk> desks_;
    std::mutex lock_;
};

}  // namespace parsimon
