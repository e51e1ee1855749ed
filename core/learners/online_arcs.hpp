// Sentences with dependency trees to learn from online: attributes of arcs, each with one column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dependency_trees/arborescences.hpp"
#include "dependency_trees/arc_features.hpp"
#include "learners/online.hpp"
#include "learners/online_weights.hpp"

namespace parsimon {

class ArcInstances {
  public:
    struct Batch {
        std::shared_ptr<const ArcSentences> sentences;
        int64_t first, last;         // which of them
        std::vector<int32_t> gold;   // of their tokens
        std::vector<double> weight;  // per sentence; empty for ones
    };

    ArcInstances(std::shared_ptr<const ArcDictionary> dictionary, TreeKind kind)
        : dictionary_(std::move(dictionary)), oracles_(kind) {}

    const ArcDictionary& dictionary() const { return *dictionary_; }
    int64_t size() const { return first_.back(); }

    void add(Batch batch) {
        first_.push_back(first_.back() + batch.last - batch.first);
        visitors_.emplace_back(*dictionary_, *batch.sentences);
        batches_.push_back(std::move(batch));
    }

    double select(int64_t number) {
        const auto which = std::upper_bound(first_.begin(), first_.end(), number) - first_.begin() - 1;
        batch_ = &batches_[which];
        visitor_ = &visitors_[which];
        const ArcSentences& sentences = *batch_->sentences;
        sentence_ = batch_->first + number - first_[which];
        length_ = sentences.length(sentence_);
        gold_ = batch_->gold.data() + (sentences.offsets()[sentence_] - sentences.offsets()[batch_->first]);
        return length_ == 0 ? 0.0 : batch_->weight.empty() ? 1.0 : batch_->weight[number - first_[which]];
    }

    void score(OnlineWeights& weights) {
        scores_.assign(static_cast<size_t>(length_) * (length_ + 1), no_tree);
        visitor_->begin(sentence_, sentence_ + 1);
        for (const SeenArc& each : visitor_->arcs()) scores_[each.cell] = 0.0;
        tokens_.resize(visitor_->n_places());
        if (blocks_.empty()) find_blocks(weights);
        const double* single = weights.single(0);
        for (int32_t t = 0; t < dictionary_->n_templates(); ++t) {
            if (single && blocks_[t] >= 0) {
                if (weights.untouched(blocks_[t])) continue;
                visitor_->visit(t, scores_.data(), tokens_, single,
                                [single, scale = weights.scale_of(blocks_[t])](double* cells,
                                                                               const ArcVisitor::Hit* hits, int32_t n) {
                                    for (int32_t j = 0; j < n; ++j)
                                        cells[hits[j].cell] += scale * single[hits[j].attribute];
                                });
            } else {
                visitor_->visit(t, scores_.data(), tokens_, nullptr,
                                [&](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
                                    weights.visit_each(
                                        0, [hits](int64_t j) { return hits[j].attribute; }, 0, n, n,
                                        [&](int64_t j, uint32_t, double weight) { cells[hits[j].cell] += weight; });
                                });
            }
        }
        tokens_.add_to_arcs(visitor_->arcs(), scores_.data());
    }

    double score_of_gold() const { return tree_score(scores_.data(), length_, gold_); }

    double best(double cost) {
        if (cost != 0)
            for (int32_t m = 1; m <= length_; ++m)
                for (int32_t h = 0; h <= length_; ++h)
                    if (h != gold_[m - 1]) scores_[arc_at(length_, h, m)] += cost;
        heads_.resize(length_);
        return oracles_.best(scores_.data(), length_, heads_.data());
    }
    bool is_wrong() const { return !std::equal(heads_.begin(), heads_.end(), gold_); }

    void collect_changes(std::vector<WeightChange>& changes) {
        for (int32_t m = 1; m <= length_; ++m) {
            if (heads_[m - 1] == gold_[m - 1]) continue;
            for (const bool right : {true, false}) {
                fired_.clear();
                dictionary_->attributes(*batch_->sentences, sentence_, right ? gold_[m - 1] : heads_[m - 1], m, fired_);
                for (const int32_t a : fired_) changes.push_back({0, a, 0, right ? 1.0 : -1.0});
            }
        }
    }

    double log_partition() { return oracles_.log_partition(scores_.data(), length_, scores_.data()); }

    bool follow_marginals(OnlineWeights& weights, double step, double weight) {
        for (double& value : scores_) value = -value;
        for (int32_t m = 1; m <= length_; ++m) scores_[arc_at(length_, gold_[m - 1], m)] += 1;
        visitor_->begin(sentence_, sentence_ + 1);
        tokens_.resize(visitor_->n_places());
        tokens_.add_arcs(visitor_->arcs(), scores_.data());
        bool changed = false;
        for (int32_t t = 0; t < dictionary_->n_templates(); ++t)
            visitor_->visit(t, scores_.data(), tokens_, nullptr,
                            [&](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
                                for (int32_t j = 0; j < n; ++j) {
                                    const double difference = cells[hits[j].cell];
                                    if (std::abs(difference) < weights.smallest_change(0, hits[j].attribute, weight))
                                        continue;
                                    changed = true;
                                    weights.add(0, hits[j].attribute, 0, step * weight * difference);
                                }
                            });
        return changed;
    }

  private:
    void find_blocks(OnlineWeights& weights) {
        const auto& first = dictionary_->first();
        for (int32_t t = 0; t < dictionary_->n_templates(); ++t) {
            const auto block = [&](int64_t a) { return static_cast<int32_t>(weights.part(0).head(a).block); };
            int64_t a = first[t];
            while (a < first[t + 1] && block(a) == block(first[t])) ++a;
            blocks_.push_back(a == first[t + 1] && a > first[t] ? block(first[t]) : -1);
        }
    }

    std::shared_ptr<const ArcDictionary> dictionary_;
    std::vector<Batch> batches_;
    std::vector<ArcVisitor> visitors_;
    std::vector<int64_t> first_{0};  // the number of each batch's first sentence, and of all
    std::vector<int32_t> blocks_;    // of each template's attributes; −1 if there are several
    // One sentence at a time.
    TreeOracles oracles_;
    const Batch* batch_ = nullptr;
    ArcVisitor* visitor_ = nullptr;
    int64_t sentence_ = 0;
    int32_t length_ = 0;
    const int32_t* gold_ = nullptr;
    std::vector<double> scores_;
    ArcTokenCells tokens_;
    std::vector<int32_t> heads_, fired_;
};

using OnlineArcs = OnlineLearner<ArcInstances, OnlineWeights>;

}  // namespace parsimon
