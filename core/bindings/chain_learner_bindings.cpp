// What Python sees of the core's learners on chains: block coordinate descent, online learners, SGD with cumulative
// penalty.
#include <cmath>
#include <memory>

#include "bindings/binding_arrays.hpp"
#include "bindings/chain_batch.hpp"
#include "bindings/online_bindings.hpp"
#include "learners/block_descent.hpp"
#include "learners/online_chains.hpp"
#include "maps/linear_map.hpp"

using namespace parsimon;

namespace {

// A row of the map of tokens for every token, and a number of a row of the map of steps.
void check_maps(const LinearMap& node, const LinearMap& pair, const In<int32_t>& row, const ChainBatch& chain) {
    require(node.rows().size() == static_cast<int64_t>(chain.pair_kind.size()) && row.size() == chain.pair_kind.size(),
            "the maps must have a row a token");
    require(node.features().width == chain.n_labels
                && pair.features().width == static_cast<int64_t>(chain.n_labels) * chain.n_labels,
            "the maps must be of the chain's labels and of its pairs of labels");
}

// Learners on chains and trees get maps of tokens and of steps.
template <class Learner>
nb::class_<Learner> bind_chain_learner(nb::module_& m, const char* name) {
    return bind_learner<Learner>(m, name).def(
        "add",
        [](Learner& learner, const LinearMap& node, const LinearMap& pair, const In<int32_t>& row,
           const ChainBatch& chain, const In<int32_t>& gold) {
            check_maps(node, pair, row, chain);
            chain.check_labels(gold);
            require(chain.n_labels == learner.weights().part(0).features().width,
                    "the chain must have the learner's labels");
            for (size_t t = 0; t < row.size(); ++t)
                require(row(t) >= 0 && row(t) < pair.rows().size(), "a step's row is out of range");
            require(node.features().n_attributes == learner.weights().part(0).n_attributes()
                        && pair.features().n_attributes == learner.weights().part(1).n_attributes(),
                    "the maps must have the learner's attributes");
            learner.add({node,
                         pair,
                         chain.offsets,
                         {row.data(), row.data() + row.size()},
                         {gold.data(), gold.data() + gold.size()},
                         chain.weight,
                         chain.forest});
        },
        "node"_a, "pair"_a, "row"_a, "chain"_a, "gold"_a);
}

void check_columns(int32_t n_labels, const FeatureRows& node, const FeatureRows& pair) {
    require(n_labels > 0 && n_labels < most_labels && node.width == n_labels
                && pair.width == static_cast<int64_t>(n_labels) * n_labels,
            "features must be of labels and of pairs of labels");
}

}  // namespace

void bind_chain_learners(nb::module_& m) {
    nb::class_<BlockDescent>(m, "BlockDescent")
        .def(
            "__init__",
            [](BlockDescent* self, int32_t n_labels) {
                require(n_labels > 0 && n_labels < most_labels,
                        "there must be at least one label and fewer than 65,536");
                new (self) BlockDescent(n_labels);
            },
            "n_labels"_a)
        .def(
            "add",
            [](BlockDescent& descent, const LinearMap& node, const LinearMap& steps, const In<int32_t>& row,
               const ChainBatch& chain, const In<int32_t>& gold) {
                require(!descent.has_blocks(), "sequences are added before blocks are made");
                require(!chain.is_tree(), "this learns from sequences, not from trees");
                require(chain.n_labels == descent.n_labels(), "the chain must have the learner's labels");
                check_maps(node, steps, row, chain);
                chain.check_labels(gold);
                if (descent.n_batches())
                    require(node.features() == descent.features(0) && steps.features() == descent.features(1),
                            "all batches must have the same features");
                std::vector<int32_t> rows(row.data(), row.data() + row.size());
                for (const int32_t r : rows) require(r >= 0 && r < steps.rows().size(), "a step's row is out of range");
                node.attributes();
                steps.attributes();
                GroupedSteps groups(chain.offsets, chain.forest.parent, rows, steps.rows().size());
                descent.add({node,
                             steps,
                             std::move(rows),
                             chain.offsets,
                             {gold.data(), gold.data() + gold.size()},
                             chain.weight,
                             std::move(groups.start),
                             std::move(groups.steps)});
            },
            "node"_a, "steps"_a, "row"_a, "chain"_a, "gold"_a)
        .def("make_blocks",
             [](BlockDescent& descent) {
                 require(descent.n_batches() > 0, "there are no sequences to make blocks of");
                 require(!descent.has_blocks(), "blocks are made once");
                 descent.make_blocks();
             })
        .def_prop_ro("n_blocks", &BlockDescent::n_blocks)
        .def("active_blocks", [](const BlockDescent& descent) { return to_numpy(descent.active_blocks()); })
        .def(
            "sweep",
            [](BlockDescent& descent, const In<int64_t>& blocks, double l1, double l2, double caution,
               Threads threads) {
                for (size_t i = 0; i < blocks.size(); ++i)
                    require(blocks(i) >= 0 && blocks(i) < descent.n_blocks(), "no such block");
                require(l1 >= 0 && l2 >= 0 && caution >= 0 && std::isfinite(l1) && std::isfinite(l2)
                            && std::isfinite(caution),
                        "strengths must not be negative");
                nb::gil_scoped_release free;
                const BlockDescent::Report report =
                    descent.sweep(blocks.data(), static_cast<int64_t>(blocks.size()), l1, l2, caution, threads);
                return std::pair(report.largest, report.changed);
            },
            "blocks"_a, "l1"_a, "l2"_a, "caution"_a, "threads"_a)
        .def("weights",
             [](const BlockDescent& descent) {
                 require(descent.has_blocks(), "blocks must be made first");
                 std::vector<int64_t> features;
                 std::vector<double> values;
                 descent.collect(features, values);
                 return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(values)));
             })
        .def(
            "start",
            [](BlockDescent& descent, const In<int64_t>& features, const In<double>& values) {
                require(descent.has_blocks(), "blocks must be made first");
                require(features.size() == values.size(), "one value a feature");
                require_finite(values, "a weight is not finite");
                descent.start(features.data(), values.data(), static_cast<int64_t>(features.size()));
            },
            "features"_a, "values"_a);

    auto online = bind_chain_learner<OnlineChain>(m, "OnlineChain");
    online.def(
        "__init__",
        [](OnlineChain* self, int32_t n_labels, const FeatureRows& node, const FeatureRows& pair,
           const In<int32_t>& node_block, const In<int32_t>& pair_block, int64_t n_blocks) {
            check_columns(n_labels, node, pair);
            check_blocks(node_block, node.n_attributes, n_blocks);
            check_blocks(pair_block, pair.n_attributes, n_blocks);
            new (self)
                OnlineChain(ChainInstances(n_labels),
                            OnlineWeights(std::make_shared<FeatureRows>(node), std::make_shared<FeatureRows>(pair),
                                          node_block.data(), pair_block.data(), n_blocks));
        },
        "n_labels"_a, "node"_a, "pair"_a, "node_block"_a, "pair_block"_a, "n_blocks"_a);
    bind_online(online);

    bind_chain_learner<SummedChain>(m, "SummedChain")
        .def(
            "__init__",
            [](SummedChain* self, int32_t n_labels, const FeatureRows& node, const FeatureRows& pair,
               const In<bool>& node_exempt, const In<bool>& pair_exempt) {
                check_columns(n_labels, node, pair);
                require(static_cast<int64_t>(node_exempt.size()) == node.n_attributes
                            && static_cast<int64_t>(pair_exempt.size()) == pair.n_attributes,
                        "one mark an attribute");
                const auto nodes = truth_values(node_exempt), pairs = truth_values(pair_exempt);
                new (self) SummedChain(ChainInstances(n_labels),
                                       SummedWeights(std::make_shared<FeatureRows>(node),
                                                     std::make_shared<FeatureRows>(pair), nodes.get(), pairs.get()));
            },
            "n_labels"_a, "node"_a, "pair"_a, "node_exempt"_a, "pair_exempt"_a)
        .def(
            "run",
            [](SummedChain& learner, const In<int64_t>& order, int question, double cost, const In<double>& steps,
               double l1, double l2, double negligible) {
                require(steps.size() == order.size(), "one step a round");
                for (size_t i = 0; i < steps.size(); ++i)
                    require(steps(i) > 0 && std::isfinite(steps(i)), "steps must be above zero");
                require(l1 >= 0 && l2 >= 0 && negligible >= 0 && std::isfinite(l1) && std::isfinite(l2)
                            && std::isfinite(negligible),
                        "strengths must not be negative");
                learner.weights().set_penalty(l1, l2, negligible);
                return run_rounds(learner, order, question, cost, steps.data());
            },
            "order"_a, "question"_a, "cost"_a, "steps"_a, "l1"_a, "l2"_a, "negligible"_a)
        .def("weights",
             [](SummedChain& learner) {
                 std::vector<int64_t> features;
                 std::vector<double> values;
                 learner.weights().collect(features, values);
                 return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(values)));
             })
        .def("state",
             [](SummedChain& learner) {
                 SummedWeights::State state = learner.weights().state();
                 return nb::make_tuple(to_numpy(std::move(state.features)), to_numpy(std::move(state.sums)),
                                       to_numpy(std::move(state.penalty)), to_numpy(std::move(state.rounds)));
             })
        .def(
            "restore",
            [](SummedChain& learner, const In<int64_t>& features, const In<double>& sums, const In<double>& penalty,
               const In<int64_t>& rounds) {
                require_new(learner);
                require(features.size() == sums.size(), "a sum for every feature");
                require(penalty.size() == 2 && penalty(0) >= 0 && penalty(1) > 0 && rounds.size() == 1,
                        "the state is of something else");
                require_finite(sums, "a number of the state is not finite");
                require_finite(penalty, "a number of the state is not finite");
                check_rounds(rounds(0));
                learner.restore({copied(features), copied(sums), copied(penalty), copied(rounds)});
            },
            "features"_a, "sums"_a, "penalty"_a, "rounds"_a);
}
