// Chains, and trees of labelled nodes, to learn from online.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "chains/sequence_parts.hpp"
#include "learners/online.hpp"
#include "learners/online_weights.hpp"
#include "learners/summed_weights.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

class ChainInstances {
  public:
    struct Batch {
        LinearMap node, pair;
        std::vector<int64_t> offsets;
        std::vector<int32_t> kind, gold;
        std::vector<double> weight;  // per sequence; empty for ones
        Forest forest = {};          // empty for chains
    };

    explicit ChainInstances(int32_t n_labels, PairForm form = PairForm::by_cost)
        : n_labels_(n_labels), parts_(n_labels, form) {}

    int64_t size() const { return first_.back(); }

    void add(Batch batch) {
        first_.push_back(first_.back() + static_cast<int64_t>(batch.offsets.size()) - 1);
        batches_.push_back(std::move(batch));
    }

    double select(int64_t number) {
        const auto which = std::upper_bound(first_.begin(), first_.end(), number) - first_.begin() - 1;
        batch_ = &batches_[which];
        const int64_t i = number - first_[which];
        at_ = batch_->offsets[i];
        length_ = batch_->offsets[i + 1] - at_;
        gold_ = batch_->gold.data() + at_;
        return length_ == 0 ? 0.0 : batch_->weight.empty() ? 1.0 : batch_->weight[i];
    }

    template <class Weights>
    void score(Weights& weights) {
        const Csr &rows = batch_->node.rows(), &pairs = batch_->pair.rows();
        parts_.begin(at_, length_, batch_->kind.data() + at_, pairs.size(), batch_->forest);
        for (int64_t t = 0; t < length_; ++t) {
            double* node = parts_.node(t);
            weights.visit(0, rows, at_ + t, rows.start[at_ + length_],
                          [&](uint32_t column, double weight) { node[column] += weight; });
        }
        for (size_t k = 0; k < parts_.kinds().size(); ++k) {
            const int32_t r = parts_.kinds()[k];
            parts_.score_steps(k, [&](auto&& add) { weights.visit(1, pairs, r, pairs.start[r + 1], add); });
        }
        parts_.finish();
    }

    double score_of_gold() { return parts_.score_of(gold_); }
    double best(double cost) { return parts_.best(gold_, cost, labels_); }
    bool is_wrong() const { return !std::equal(labels_.begin(), labels_.end(), gold_); }
    double log_partition() { return parts_.marginals(gold_); }

    template <class Weights>
    bool follow_marginals(Weights& weights, double step, double weight) {
        const Csr &rows = batch_->node.rows(), &pairs = batch_->pair.rows();
        bool changed = false;
        for (int64_t t = 0; t < length_; ++t) {
            const double least = least_of(weights, 0, rows, at_ + t, weight);
            if (std::isinf(least)) continue;
            parts_.node_differences(t, least, differences_);
            changed |= change(weights, 0, rows, at_ + t, step, weight);
        }
        parts_.pair_differences(
            [&](size_t k) { return least_of(weights, 1, pairs, parts_.kinds()[k], weight); }, differences_,
            [&](size_t k) { changed |= change(weights, 1, pairs, parts_.kinds()[k], step, weight); });
        return changed;
    }

    void collect_changes(std::vector<WeightChange>& changes) const {
        const auto spread = [&](int p, const Csr& rows, int64_t r, int64_t right, int64_t given) {
            for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                const double value = rows.value.empty() ? 1.0 : rows.value[i];
                changes.push_back({p, rows.index[i], static_cast<uint32_t>(right), value});
                changes.push_back({p, rows.index[i], static_cast<uint32_t>(given), -value});
            }
        };
        const int64_t Y = n_labels_;
        for (int64_t t = 0; t < length_; ++t) {
            const int64_t from = parts_.before(t);
            const bool here = labels_[t] != gold_[t], before = from >= 0 && labels_[from] != gold_[from];
            if (here) spread(0, batch_->node.rows(), at_ + t, gold_[t], labels_[t]);
            if (from >= 0 && (here || before))
                spread(1, batch_->pair.rows(), batch_->kind[at_ + t], gold_[from] * Y + gold_[t],
                       labels_[from] * Y + labels_[t]);
        }
    }

    // How often the attributes of a batch fire.
    template <class Weights>
    static void count(const Batch& batch, Weights& weights) {
        const auto n = static_cast<int64_t>(batch.offsets.size()) - 1;
        weights.add_rounds(n);
        for (const int32_t a : batch.node.rows().index) weights.fires(0, a);
        const Csr& pairs = batch.pair.rows();
        for (int64_t i = 0; i < n; ++i)
            for (int64_t t = batch.offsets[i]; t < batch.offsets[i + 1]; ++t) {
                if (batch.forest.parent.empty() ? t == batch.offsets[i] : batch.forest.parent[t] < 0) continue;
                for (int64_t j = pairs.start[batch.kind[t]]; j < pairs.start[batch.kind[t] + 1]; ++j)
                    weights.fires(1, pairs.index[j]);
            }
    }

  private:
    // The smallest difference that is worth a change of some attribute of a row; infinite if it has none.
    template <class Weights>
    static double least_of(const Weights& weights, int p, const Csr& rows, int64_t r, double weight) {
        double least = std::numeric_limits<double>::infinity();
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
            least = std::min(
                least, weights.smallest_change(p, rows.index[i], weight * (rows.value.empty() ? 1.0 : rows.value[i])));
        return least;
    }

    template <class Weights>
    bool change(Weights& weights, int p, const Csr& rows, int64_t r, double step, double weight) {
        if (!differences_.n) return false;
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
            weights.change(p, rows.index[i], step, weight * (rows.value.empty() ? 1.0 : rows.value[i]),
                           differences_.column.data(), differences_.value.data(), differences_.n);
        return true;
    }

    int32_t n_labels_;
    std::vector<Batch> batches_;
    std::vector<int64_t> first_{0};  // the number of each batch's first sequence, and of all
    // One sequence at a time.
    const Batch* batch_ = nullptr;
    int64_t at_ = 0, length_ = 0;
    const int32_t* gold_ = nullptr;
    SequenceParts parts_;
    std::vector<int32_t> labels_;
    ColumnDifferences differences_;
};

using OnlineChain = OnlineLearner<ChainInstances, OnlineWeights>;
using SummedChain = OnlineLearner<ChainInstances, SummedWeights>;

}  // namespace parsimon
