// Online learning: rounds of asking a structure for an output and moving the weights (Martins et al. 2011, Algorithm 1,
// between two proximal steps; Tsuruoka et al. 2009, Figure 2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "maps/feature_rows.hpp"

namespace parsimon {

// Which oracle of the structure is asked. That makes the loss: perceptron, hinge or log.
enum class Oracle { argmax, cost_argmax, marginals };

// How far to go: a given step, or as far as the loss of this instance asks for, but at most `most` (passive-aggressive;
// for the hinge loss this is max-loss 1-best MIRA, Crammer et al. 2006):
//
//     τ = min(most, loss / ‖f(gold) − f(ŷ)‖²)
struct StepSize {
    bool passive_aggressive;
    double size;  // or the most
};

struct OnlineReport {
    double loss = 0;
    int64_t mistakes = 0;  // instances whose output was not gold
};

// A weight that should change: that of an attribute, of one of two parts, with a column.
struct WeightChange {
    int32_t part, attribute;
    uint32_t column;
    double value;
};

// Learns from instance after instance. `Instances` knows what they are (online_chains.hpp, online_arcs.hpp):
//
//     add(batch), size()          all instances
//     select(i)                   the instance that what follows is about. Returns its weight: 0 if there is nothing to
//                                 learn from it
//     score(weights)              scores all parts
//     score_of_gold()
//     best(cost)                  the value of the best output
//     is_wrong()                  whether that is not gold
//     collect_changes(changes)    f(gold) − f(best)
//     log_partition()
//     follow_marginals(weights, step, weight)    weights += step · weight · (f(gold) − E f); whether any has changed
//     count(batch, weights)       for weights that want to know how often attributes fire
//
// Weights are OnlineWeights, which are pulled towards zero now and then and may be dropped, or SummedWeights, under a
// cumulative L1 penalty.
template <class Instances, class Weights>
class OnlineLearner {
  public:
    using Batch = typename Instances::Batch;

    OnlineLearner(Instances instances, Weights weights)
        : instances_(std::move(instances)), weights_(std::move(weights)) {}

    Weights& weights() { return weights_; }
    const Instances& instances() const { return instances_; }
    int64_t n_sequences() const { return instances_.size(); }

    void add(Batch batch) {
        if constexpr (requires { weights_.add_rounds(1); }) instances_.count(batch, weights_);
        instances_.add(std::move(batch));
    }

    // Weights to begin with, by feature number, ascending.
    void start(const int64_t* features, const double* values, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
            const WeightChange at = located(features[i]);
            weights_.add(at.part, at.attribute, at.column, values[i]);
        }
    }

    // Goes on from a state of such weights as if there had been no break.
    void restore(const typename Weights::State& state) {
        weights_.restore(state);
        for (size_t i = 0; i < state.features.size(); ++i) {
            const WeightChange at = located(state.features[i]);
            weights_.restore_entry(state, i, at.part, at.attribute, at.column);
        }
    }

    // One round for each of the given sequences, in that order.
    OnlineReport run(const int64_t* order, int64_t n, Oracle oracle, double cost, StepSize step) {
        OnlineReport report;
        for (int64_t i = 0; i < n; ++i) round(order[i], oracle, cost, step, report);
        return report;
    }
    // The same with a step for each.
    OnlineReport run(const int64_t* order, int64_t n, Oracle oracle, double cost, const double* steps) {
        OnlineReport report;
        for (int64_t i = 0; i < n; ++i) round(order[i], oracle, cost, {false, steps[i]}, report);
        return report;
    }

  private:
    // Where the weight of a feature is.
    WeightChange located(int64_t feature) {
        const int64_t cut = weights_.part(0).features().size();
        const int p = feature >= cut;
        const FeatureRows::Place at = weights_.part(p).features().place(feature - (p ? cut : 0));
        return {p, static_cast<int32_t>(at.attribute), static_cast<uint32_t>(at.column), 0.0};
    }

    void round(int64_t number, Oracle oracle, double cost, StepSize step, OnlineReport& report) {
        wrong_ = false;
        report.loss += learn(number, oracle, cost, step);
        report.mistakes += wrong_;
        weights_.next_round(step.size);
    }

    double learn(int64_t number, Oracle oracle, double cost, StepSize step) {
        const double weight = instances_.select(number);
        if (weight == 0) return 0;
        instances_.score(weights_);
        const double attained = instances_.score_of_gold();
        if (oracle == Oracle::marginals) {
            const double loss = instances_.log_partition() - attained;
            wrong_ = instances_.follow_marginals(weights_, step.size, weight);
            return loss * weight;
        }
        const double loss = instances_.best(oracle == Oracle::cost_argmax ? cost : 0.0) - attained;
        // A wrong output that scores no better than gold is still wrong: at w = 0 all outputs do.
        wrong_ = instances_.is_wrong();
        if (!wrong_) return 0;
        changes_.clear();
        instances_.collect_changes(changes_);
        add_up_changes();
        double size = step.size;
        if (step.passive_aggressive) {
            double norm = 0;
            for (const WeightChange& change : changes_) norm += change.value * change.value;
            size = norm > 0 ? std::min(step.size, loss / norm) : 0;
        }
        for (const WeightChange& change : changes_)
            weights_.add(change.part, change.attribute, change.column, size * weight * change.value);
        return loss * weight;
    }

    // Each feature once, if it exists: an attribute that fires several times counts as often.
    void add_up_changes() {
        const auto key = [](const WeightChange& c) { return std::tuple(c.part, c.attribute, c.column); };
        std::sort(changes_.begin(), changes_.end(),
                  [&](const WeightChange& a, const WeightChange& b) { return key(a) < key(b); });
        size_t kept = 0;
        for (size_t j = 0; j < changes_.size();) {
            WeightChange sum = changes_[j];
            for (++j; j < changes_.size() && key(changes_[j]) == key(sum); ++j) sum.value += changes_[j].value;
            if (sum.value != 0 && weights_.part(sum.part).exists(sum.attribute, sum.column)) changes_[kept++] = sum;
        }
        changes_.resize(kept);
    }

    Instances instances_;
    Weights weights_;
    std::vector<WeightChange> changes_;
    bool wrong_ = false;
};

}  // namespace parsimon
