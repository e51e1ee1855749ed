// Online learning on chains: rounds of asking a structure for an output and moving the weights (Martins et al. 2011,
// Algorithm 1, between two proximal steps; Tsuruoka et al. 2009, Figure 2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "linear_map.hpp"
#include "online_weights.hpp"
#include "sequence_parts.hpp"
#include "summed_weights.hpp"

namespace parsimon {

// What is asked of the structure, which makes the loss: perceptron, hinge or log.
enum class Question { argmax, cost_argmax, marginals };

// How far to go: a given step, or as far as the loss of this instance asks for, but at most `most` (passive-aggressive;
// for the hinge loss this is max-loss 1-best MIRA, Crammer et al. 2006):
//
//     τ = min(most, loss / ‖f(gold) − f(ŷ)‖²)
struct Step {
    bool passive_aggressive;
    double size;  // or the most
};

struct OnlineSums {
    double loss = 0;
    int64_t mistakes = 0;  // instances whose output was not gold
};

// Whole passes over chains, with either kind of weights: OnlineWeights, which are pulled now and then and may be dropped,
// or SummedWeights, under a cumulative L1 penalty.
template <class Weights>
class ChainRounds {
  public:
    struct Batch {
        LinearMap node, pair;
        std::vector<int64_t> offsets;
        std::vector<int32_t> kind, gold;
        std::vector<double> weight;  // per sequence; empty for ones
        Forest forest = {};          // empty for chains
    };

    ChainRounds(int32_t n_labels, Weights weights, PairForm form = PairForm::by_cost)
        : n_labels_(n_labels), weights_(std::move(weights)), parts_(n_labels, form) {}

    Weights& weights() { return weights_; }
    int64_t n_sequences() const { return first_.back(); }

    void add(Batch batch) {
        if constexpr (requires { weights_.add_rounds(1); }) count(batch);
        first_.push_back(first_.back() + static_cast<int64_t>(batch.offsets.size()) - 1);
        batches_.push_back(std::move(batch));
    }

    // Weights to begin with, by feature number, ascending.
    void start(const int64_t* features, const double* values, int64_t n) {
        const int64_t cut = weights_.part(0).features().size();
        for (int64_t i = 0; i < n; ++i) {
            const int p = features[i] >= cut;
            const int64_t k = features[i] - (p ? cut : 0);
            const FeatureRows& rows = weights_.part(p).features();
            if (k < 0 || k >= rows.size()) throw std::invalid_argument("no such feature");
            const int64_t a = rows.all ? k / rows.width
                                       : std::upper_bound(rows.start.begin(), rows.start.end(), k) - rows.start.begin() - 1;
            weights_.add(p, a, static_cast<uint32_t>(rows.all ? k % rows.width : rows.column[k]), values[i]);
        }
    }

    // One round for each of the given sequences, in that order.
    OnlineSums run(const int64_t* order, int64_t n, Question question, double cost, Step step) {
        OnlineSums sums;
        for (int64_t i = 0; i < n; ++i) round(order[i], question, cost, step, sums);
        return sums;
    }
    // The same with a step for each.
    OnlineSums run(const int64_t* order, int64_t n, Question question, double cost, const double* steps) {
        OnlineSums sums;
        for (int64_t i = 0; i < n; ++i) round(order[i], question, cost, {false, steps[i]}, sums);
        return sums;
    }

  private:
    struct Change {
        int32_t part, attribute;
        uint32_t column;
        double value;
    };

    void round(int64_t number, Question question, double cost, Step step, OnlineSums& sums) {
        const auto which = std::upper_bound(first_.begin(), first_.end(), number) - first_.begin() - 1;
        wrong_ = false;
        sums.loss += learn(batches_[which], number - first_[which], question, cost, step);
        sums.mistakes += wrong_;
        weights_.next_round(step.size);
    }

    double learn(const Batch& batch, int64_t i, Question question, double cost, Step step) {
        const int64_t at = batch.offsets[i], T = batch.offsets[i + 1] - at;
        const double weight = batch.weight.empty() ? 1.0 : batch.weight[i];
        if (T == 0 || weight == 0) return 0;
        const int32_t* gold = batch.gold.data() + at;
        score(batch, at, T);
        const double attained = parts_.score_of(gold);
        if (question == Question::marginals) {
            const double loss = parts_.marginals(gold) - attained;
            follow_marginals(batch, at, T, step.size, weight);
            return loss * weight;
        }
        const double loss = parts_.best(gold, question == Question::cost_argmax ? cost : 0.0, labels_) - attained;
        // A wrong output that scores no better than gold is still wrong: at w = 0 all outputs do.
        wrong_ = !std::equal(labels_.begin(), labels_.end(), gold);
        if (!wrong_) return 0;
        compare(batch, at, T, gold);
        double size = step.size;
        if (step.passive_aggressive) {
            double norm = 0;
            for (const Change& change : changes_) norm += change.value * change.value;
            size = norm > 0 ? std::min(step.size, loss / norm) : 0;
        }
        for (const Change& change : changes_) weights_.add(change.part, change.attribute, change.column, size * weight * change.value);
        return loss * weight;
    }

    void score(const Batch& batch, int64_t at, int64_t T) {
        const Csr &rows = batch.node.rows(), &pairs = batch.pair.rows();
        parts_.begin(at, T, batch.kind.data() + at, pairs.size(), batch.forest);
        for (int64_t t = 0; t < T; ++t) {
            double* node = parts_.node(t);
            weights_.visit(0, rows, at + t, rows.start[at + T], [&](uint32_t column, double weight) { node[column] += weight; });
        }
        for (size_t k = 0; k < parts_.kinds().size(); ++k) {
            const int32_t r = parts_.kinds()[k];
            parts_.score_steps(k, [&](auto&& add) { weights_.visit(1, pairs, r, pairs.start[r + 1], add); });
        }
        parts_.finish();
    }

    // weights += step · (gold − marginals), of attributes that fire.
    void follow_marginals(const Batch& batch, int64_t at, int64_t T, double step, double weight) {
        const Csr &rows = batch.node.rows(), &pairs = batch.pair.rows();
        for (int64_t t = 0; t < T; ++t) {
            const double least = least_of(0, rows, at + t, weight);
            if (std::isinf(least)) continue;
            parts_.node_differences(t, least, differences_);
            change(0, rows, at + t, step, weight);
        }
        parts_.pair_differences([&](size_t k) { return least_of(1, pairs, parts_.kinds()[k], weight); }, differences_,
                                [&](size_t k) { change(1, pairs, parts_.kinds()[k], step, weight); });
    }

    // The smallest difference that is worth a change of some attribute of a row; infinite if it has none.
    double least_of(int p, const Csr& rows, int64_t r, double weight) const {
        double least = std::numeric_limits<double>::infinity();
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
            least = std::min(least, weights_.least(p, rows.index[i], weight * (rows.value.empty() ? 1.0 : rows.value[i])));
        return least;
    }

    void change(int p, const Csr& rows, int64_t r, double step, double weight) {
        if (!differences_.n) return;
        wrong_ = true;
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
            weights_.change(p, rows.index[i], step, weight * (rows.value.empty() ? 1.0 : rows.value[i]), differences_.column.data(),
                            differences_.value.data(), differences_.n);
    }

    // f(gold) − f(ŷ), of features that exist: an attribute that fires several times counts as often.
    void compare(const Batch& batch, int64_t at, int64_t T, const int32_t* gold) {
        changes_.clear();
        const auto spread = [&](int p, const Csr& rows, int64_t r, int64_t right, int64_t given) {
            for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                const double value = rows.value.empty() ? 1.0 : rows.value[i];
                changes_.push_back({p, rows.index[i], static_cast<uint32_t>(right), value});
                changes_.push_back({p, rows.index[i], static_cast<uint32_t>(given), -value});
            }
        };
        const int64_t Y = n_labels_;
        for (int64_t t = 0; t < T; ++t) {
            const int64_t from = parts_.before(t);
            const bool here = labels_[t] != gold[t], before = from >= 0 && labels_[from] != gold[from];
            if (here) spread(0, batch.node.rows(), at + t, gold[t], labels_[t]);
            if (from >= 0 && (here || before))
                spread(1, batch.pair.rows(), batch.kind[at + t], gold[from] * Y + gold[t], labels_[from] * Y + labels_[t]);
        }
        const auto key = [](const Change& c) { return std::tuple(c.part, c.attribute, c.column); };
        std::sort(changes_.begin(), changes_.end(), [&](const Change& a, const Change& b) { return key(a) < key(b); });
        size_t kept = 0;
        for (size_t j = 0; j < changes_.size();) {
            Change sum = changes_[j];
            for (++j; j < changes_.size() && key(changes_[j]) == key(sum); ++j) sum.value += changes_[j].value;
            if (sum.value != 0 && weights_.part(sum.part).exists(sum.attribute, sum.column)) changes_[kept++] = sum;
        }
        changes_.resize(kept);
    }

    // How often the attributes of a batch fire.
    void count(const Batch& batch) {
        const auto n = static_cast<int64_t>(batch.offsets.size()) - 1;
        weights_.add_rounds(n);
        for (const int32_t a : batch.node.rows().index) weights_.fires(0, a);
        const Csr& pairs = batch.pair.rows();
        for (int64_t i = 0; i < n; ++i)
            for (int64_t t = batch.offsets[i]; t < batch.offsets[i + 1]; ++t) {
                if (batch.forest.parent.empty() ? t == batch.offsets[i] : batch.forest.parent[t] < 0) continue;
                for (int64_t j = pairs.start[batch.kind[t]]; j < pairs.start[batch.kind[t] + 1]; ++j) weights_.fires(1, pairs.index[j]);
            }
    }

    int32_t n_labels_;
    Weights weights_;
    std::vector<Batch> batches_;
    std::vector<int64_t> first_{0};  // the number of each batch's first sequence, and of all
    // One sequence at a time.
    SequenceParts parts_;
    std::vector<int32_t> labels_;
    Differences differences_;
    std::vector<Change> changes_;
    bool wrong_ = false;
};

using OnlineChain = ChainRounds<OnlineWeights>;
using SummedChain = ChainRounds<SummedWeights>;

}  // namespace parsimon
