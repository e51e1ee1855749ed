// What Python sees of online learners, whatever they learn from.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "bindings/binding_arrays.hpp"
#include "learners/online.hpp"
#include "learners/online_weights.hpp"

namespace parsimon {

// A mask of blocks as the core takes it.
template <class Learner>
std::vector<char> chosen_blocks(Learner& learner, const In<bool>& blocks) {
    require(static_cast<int64_t>(blocks.size()) == learner.weights().n_blocks(), "one mark a block");
    std::vector<char> out(blocks.size());
    for (size_t b = 0; b < out.size(); ++b) out[b] = is_true(blocks.data() + b);
    return out;
}

// What all learners have in common.
template <class Learner>
nb::class_<Learner> bind_learner(nb::module_& m, const char* name) {
    return nb::class_<Learner>(m, name)
        .def_prop_ro("n_sequences", &Learner::n_sequences)
        .def_prop_ro("n_weights", [](Learner& learner) { return learner.weights().n_entries(); })
        .def_prop_ro("rounds", [](Learner& learner) { return learner.weights().round(); })
        .def(
            "start",
            [](Learner& learner, const In<int64_t>& features, const In<double>& values) {
                require(features.size() == values.size() && learner.weights().n_entries() == 0,
                        "weights are set once, at the start");
                require_finite(values, "a weight is not finite");
                learner.start(features.data(), values.data(), static_cast<int64_t>(features.size()));
            },
            "features"_a, "values"_a);
}

// A state is for a learner that has not learnt anything yet.
template <class Learner>
void require_new(Learner& learner) {
    require(learner.weights().n_entries() == 0 && learner.weights().round() == 0,
            "a state is restored once, at the start");
}

template <class T>
std::vector<T> copied(const In<T>& array) {
    return {array.data(), array.data() + array.size()};
}

// More rounds than any training has, and few enough to count on from.
constexpr int64_t most_rounds = int64_t{1} << 52;

inline void check_rounds(int64_t rounds) {
    require(rounds >= 0 && rounds <= most_rounds, "the number of rounds is out of range");
}

// What a state of OnlineWeights says of its blocks and rounds must be possible.
inline void check_state(const OnlineWeights::State& state) {
    const auto finite = [](double value) { return std::isfinite(value); };
    require(std::all_of(state.values.begin(), state.values.end(), finite)
                && std::all_of(state.drifts.begin(), state.drifts.end(), finite)
                && std::all_of(state.blocks.begin(), state.blocks.end(), finite),
            "a number of the state is not finite");
    const int64_t* further = state.counts.data() + state.counts.size() - OnlineWeights::State::further_counts;
    const int64_t rounds = further[0], averaged_from = further[1];
    check_rounds(rounds);
    require(averaged_from >= 0 && averaged_from <= rounds, "the rounds of the average are out of range");
    const size_t n_blocks = state.blocks.size() / WeightBlock::n_numbers;
    for (size_t b = 0; b < n_blocks; ++b) {
        const WeightBlock block = WeightBlock::saved(state.blocks.data() + b * WeightBlock::n_numbers,
                                                     state.counts.data() + b * WeightBlock::n_counts);
        require(block.scale > 0 && block.pull_on_rows >= 0 && block.pull_on_entries >= 0 && block.since >= 0
                    && block.since <= rounds,
                "the state of a block is out of range");
    }
}

// Rounds in a given order; question: 0 argmax, 1 cost-augmented argmax, 2 marginals.
template <class Learner, class Steps>
std::pair<double, int64_t> run_rounds(Learner& learner, const In<int64_t>& order, int question, double cost,
                                      Steps steps) {
    require(question >= 0 && question <= 2, "no such question");
    require(std::isfinite(cost), "the cost is not finite");
    for (size_t i = 0; i < order.size(); ++i)
        require(order(i) >= 0 && order(i) < learner.n_sequences(), "a sequence number is out of range");
    nb::gil_scoped_release free;
    const OnlineReport report =
        learner.run(order.data(), static_cast<int64_t>(order.size()), static_cast<Oracle>(question), cost, steps);
    return {report.loss, report.mistakes};
}

// Blocks for weights of online learners: one an attribute.
inline void check_blocks(const In<int32_t>& block, int64_t n_attributes, int64_t n_blocks) {
    require(n_blocks > 0 && n_blocks <= TouchedRows::most_blocks, "there must be 1 to 4,096 blocks");
    require(static_cast<int64_t>(block.size()) == n_attributes, "one block an attribute");
    for (size_t a = 0; a < block.size(); ++a) require(block(a) >= 0 && block(a) < n_blocks, "a block is out of range");
}

// What learners with OnlineWeights can do: rounds, and steps towards zero.
template <class Learner>
void bind_online(nb::class_<Learner>& learner_class) {
    learner_class
        .def(
            "run",
            [](Learner& learner, const In<int64_t>& order, int question, double cost, bool passive_aggressive,
               double step) {
                require(std::isfinite(step), "the step is not finite");
                return run_rounds(learner, order, question, cost, StepSize{passive_aggressive, step});
            },
            "order"_a, "question"_a, "cost"_a, "passive_aggressive"_a, "step"_a)
        .def(
            "scale",
            [](Learner& learner, const In<double>& factors) {
                require(static_cast<int64_t>(factors.size()) == learner.weights().n_blocks(), "one factor a block");
                for (size_t b = 0; b < factors.size(); ++b)
                    require(factors(b) >= 0 && std::isfinite(factors(b)), "factors must not be negative");
                learner.weights().scale(factors.data());
            },
            "factors"_a)
        .def(
            "norms",
            [](Learner& learner, bool running) {
                return to_numpy(running ? learner.weights().running_norms() : learner.weights().norms());
            },
            "running"_a = false)
        .def(
            "row_norms",
            [](Learner& learner, const In<bool>& blocks) {
                return to_numpy(learner.weights().row_norms(chosen_blocks(learner, blocks).data()));
            },
            "blocks"_a)
        .def(
            "magnitudes",
            [](Learner& learner, const In<bool>& blocks) {
                return to_numpy(learner.weights().magnitudes(chosen_blocks(learner, blocks).data()));
            },
            "blocks"_a)
        .def(
            "pull_rows",
            [](Learner& learner, double by, const In<bool>& blocks) {
                require(by >= 0 && std::isfinite(by), "a pull is towards zero");
                learner.weights().pull_rows(by, chosen_blocks(learner, blocks).data());
            },
            "by"_a, "blocks"_a)
        .def(
            "pull_weights",
            [](Learner& learner, double by, const In<bool>& blocks) {
                require(by >= 0 && std::isfinite(by), "a pull is towards zero");
                learner.weights().pull_entries(by, chosen_blocks(learner, blocks).data());
            },
            "by"_a, "blocks"_a)
        .def(
            "drop_rows",
            [](Learner& learner, double limit, const In<bool>& blocks) {
                require(limit >= 0, "a limit of what is dropped must be zero or more");
                learner.weights().drop_rows(limit, chosen_blocks(learner, blocks).data());
            },
            "limit"_a, "blocks"_a)
        .def(
            "drop_weights",
            [](Learner& learner, double limit, const In<bool>& blocks) {
                require(limit >= 0, "a limit of what is dropped must be zero or more");
                learner.weights().drop_entries(limit, chosen_blocks(learner, blocks).data());
            },
            "limit"_a, "blocks"_a)
        .def("forget_average", [](Learner& learner) { learner.weights().forget_average(); })
        .def("settle", [](Learner& learner) { learner.weights().apply_all_pulls(); })
        .def(
            "weights",
            [](Learner& learner, bool averaged) {
                std::vector<int64_t> features;
                std::vector<double> values;
                learner.weights().collect(averaged, features, values);
                return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(values)));
            },
            "averaged"_a = false)
        .def("state",
             [](Learner& learner) {
                 OnlineWeights::State state = learner.weights().state();
                 return nb::make_tuple(to_numpy(std::move(state.features)), to_numpy(std::move(state.values)),
                                       to_numpy(std::move(state.drifts)), to_numpy(std::move(state.blocks)),
                                       to_numpy(std::move(state.counts)));
             })
        .def(
            "restore",
            [](Learner& learner, const In<int64_t>& features, const In<double>& values, const In<double>& drifts,
               const In<double>& blocks, const In<int64_t>& counts) {
                using State = OnlineWeights::State;
                const auto n_blocks = static_cast<size_t>(learner.weights().n_blocks());
                require_new(learner);
                require(features.size() == values.size() && features.size() == drifts.size(),
                        "a value and a drift for every weight");
                require(blocks.size() == n_blocks * State::per_block
                            && counts.size() == n_blocks * State::counts_per_block + State::further_counts,
                        "the state is of other blocks");
                State state{copied(features), copied(values), copied(drifts), copied(blocks), copied(counts)};
                check_state(state);
                learner.restore(state);
            },
            "features"_a, "values"_a, "drifts"_a, "blocks"_a, "counts"_a)
        .def(
            "replace",
            [](Learner& learner, const In<double>& values) {
                require(static_cast<int64_t>(values.size()) == learner.weights().n_entries(),
                        "one number a weight that exists");
                for (size_t i = 0; i < values.size(); ++i) require(std::isfinite(values(i)), "a weight is not finite");
                learner.weights().replace(values.data());
            },
            "values"_a);
}

}  // namespace parsimon
