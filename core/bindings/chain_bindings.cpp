// What Python sees of the core's chains (and of trees, which share their kernels): oracles, and steep features.
#include <optional>

#include "bindings/binding_arrays.hpp"
#include "bindings/chain_batch.hpp"
#include "chains/chain_posterior.hpp"
#include "kernels/kernels.hpp"
#include "kernels/screening.hpp"
#include "maps/linear_map.hpp"

using namespace parsimon;

namespace {

// Batches that are looked at together have the same features.
void check_same_features(const LinearMap& map, const LinearMap& first) {
    const FeatureRows &mine = map.features(), &other = first.features();
    require(mine.n_attributes == other.n_attributes && mine.width == other.width && mine.all == other.all
                && mine.size() == other.size(),
            "the maps of all batches must have the same features");
}

void check_posterior(const ChainPosterior* posterior, const ChainBatch& chain) {
    require(posterior, "a posterior must be of the chain");
    const auto n_tokens = chain.pair_kind.size(), n_singles = chain.single.size();
    const auto stride = static_cast<size_t>(padded(chain.n_labels));
    const size_t cells = static_cast<size_t>(chain.n_kinds) * chain.n_labels * stride;
    const bool logs = !posterior->in_logs.empty();
    require(posterior->left.size() == n_tokens * stride && posterior->right.size() == n_tokens * stride
                && posterior->matrices.size() == cells && posterior->singles.size() == n_singles,
            "a posterior must be of the chain");
    require(!logs
                || (posterior->in_logs.size() == n_tokens && posterior->log_matrices.size() == cells
                    && posterior->log_singles.size() == n_singles),
            "a posterior must be of the chain");
}

}  // namespace

void bind_chains(nb::module_& m) {
    nb::class_<ChainPosterior>(m, "ChainPosterior").def(nb::init<>());

    nb::class_<ChainBatch>(m, "Chain")
        .def(nb::init<const In<int64_t>&, const In<int32_t>&, const std::optional<In<double>>&, int32_t, int64_t,
                      const std::optional<In<int32_t>>&, const std::optional<In<int32_t>>&,
                      const std::optional<In<int64_t>>&, const std::optional<In<uint32_t>>&>(),
             "offsets"_a, "pair_kind"_a, "weights"_a.none(), "n_labels"_a, "n_kinds"_a, "row"_a = nb::none(),
             "row_kind"_a = nb::none(), "single_start"_a = nb::none(), "single"_a = nb::none())
        .def(
            "marginals",
            [](const ChainBatch& c, const In2<double>& node, const In3<double>& pair, const In<double>& single,
               InOut<double> log_z, InOut2<double> node_out, InOut3<double> pair_out, InOut<double> single_out,
               InOut<double> scratch, ChainPosterior* kept, Threads threads) {
                c.check(node, pair, single);
                require(log_z.size() == c.offsets.size() - 1 && node_out.size() == node.size()
                            && pair_out.size() == pair.size() && single_out.size() == single.size(),
                        "outputs must have the shape of the scores");
                require(kept || scratch.size() >= 2 * node.shape(0) * static_cast<size_t>(padded(c.n_labels)),
                        "scratch is too small");
                nb::gil_scoped_release free;
                double* left = scratch.data();
                double* right = left + (kept ? 0 : node.shape(0) * padded(c.n_labels));
                return kernels().chain_marginals(c.shape(), {node.data(), pair.data(), single.data()}, log_z.data(),
                                                 {node_out.data(), pair_out.data(), single_out.data()}, left, right,
                                                 kept, threads);
            },
            "node"_a, "pair"_a, "single"_a, "log_z"_a.noconvert(), "node_out"_a.noconvert(), "pair_out"_a.noconvert(),
            "single_out"_a.noconvert(), "scratch"_a.noconvert(), "kept"_a.none(), "threads"_a)
        .def(
            "variances",
            [](const ChainBatch& c, const In2<double>& marginals, InOut2<double> node_out, InOut3<double> pair_out,
               InOut<double> single_out, Threads threads) {
                c.check(marginals, pair_out, single_out);
                require(node_out.size() == marginals.size(), "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                kernels().chain_variances(c.shape(), marginals.data(),
                                          {node_out.data(), pair_out.data(), single_out.data()}, threads);
            },
            "marginals"_a, "node_out"_a.noconvert(), "pair_out"_a.noconvert(), "single_out"_a.noconvert(), "threads"_a)
        .def(
            "score",
            [](const ChainBatch& c, const In2<double>& node, const In3<double>& pair, const In<double>& single,
               const In<int32_t>& labels, InOut<double> out, Threads threads) {
                c.check(node, pair, single);
                c.check_labels(labels);
                require(out.size() == c.offsets.size() - 1, "one score a sequence");
                nb::gil_scoped_release free;
                kernels().chain_score(c.shape(), {node.data(), pair.data(), single.data()}, labels.data(), out.data(),
                                      threads);
            },
            "node"_a, "pair"_a, "single"_a, "labels"_a, "out"_a.noconvert(), "threads"_a)
        .def(
            "add",
            [](const ChainBatch& c, const In<int32_t>& labels, double times, InOut2<double> node, InOut3<double> pair,
               InOut<double> single) {
                c.check(node, pair, single);
                c.check_labels(labels);
                nb::gil_scoped_release free;
                kernels().chain_add(c.shape(), labels.data(), times, {node.data(), pair.data(), single.data()});
            },
            "labels"_a, "times"_a, "node"_a.noconvert(), "pair"_a.noconvert(), "single"_a.noconvert())
        .def(
            "argmax",
            [](const ChainBatch& c, const In2<double>& node, const In3<double>& pair, const In<double>& single,
               InOut<double> best, InOut<int32_t> labels, Threads threads) {
                c.check(node, pair, single);
                require(best.size() == c.offsets.size() - 1 && labels.size() == node.shape(0),
                        "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                return (c.is_tree() ? kernels().tree_argmax : kernels().chain_argmax)(
                    c.shape(), {node.data(), pair.data(), single.data()}, best.data(), labels.data(), threads);
            },
            "node"_a, "pair"_a, "single"_a, "best"_a.noconvert(), "labels"_a.noconvert(), "threads"_a)
        .def(
            "kbest",
            [](const ChainBatch& c, const In2<double>& node, const In3<double>& pair, const In<double>& single,
               InOut2<double> scores, InOut2<int32_t> labels, Threads threads) {
                c.check(node, pair, single);
                require(scores.shape(0) == labels.shape(0) && scores.shape(1) == c.offsets.size() - 1
                            && labels.shape(1) == node.shape(0),
                        "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                (c.is_tree() ? kernels().tree_kbest : kernels().chain_kbest)(
                    c.shape(), {node.data(), pair.data(), single.data()}, static_cast<int32_t>(scores.shape(0)),
                    scores.data(), labels.data(), threads);
            },
            "node"_a, "pair"_a, "single"_a, "scores"_a.noconvert(), "labels"_a.noconvert(), "threads"_a)
        .def(
            "sample",
            [](const ChainBatch& c, const In2<double>& node, const In3<double>& pair, const In<double>& single,
               uint64_t seed, InOut2<int32_t> labels, Threads threads) {
                c.check(node, pair, single);
                require(labels.shape(1) == node.shape(0), "outputs must have the shape of the scores");
                nb::gil_scoped_release free;
                return (c.is_tree() ? kernels().tree_sample : kernels().chain_sample)(
                    c.shape(), {node.data(), pair.data(), single.data()}, seed, static_cast<int32_t>(labels.shape(0)),
                    labels.data(), threads);
            },
            "node"_a, "pair"_a, "single"_a, "seed"_a, "labels"_a.noconvert(), "threads"_a);

    using Terms = std::vector<std::tuple<double, const ChainPosterior*, In2<double>>>;
    using Outputs = std::vector<std::pair<In<double>, In<int32_t>>>;
    m.def(
        "screen_pairs",
        [](const std::vector<std::tuple<const LinearMap*, In<int32_t>, const ChainBatch*, Terms, Outputs>>& given,
           double threshold, Threads threads) {
            std::vector<ScreenBatch> batches;
            std::vector<GroupedSteps> groups;
            groups.reserve(given.size());
            for (const auto& [steps, row, chain, terms, outputs] : given) {
                require(steps && chain, "a batch is a map of steps and a chain");
                const size_t n_tokens = chain->pair_kind.size(), n_labels = chain->n_labels;
                require(row.size() == n_tokens, "there must be one row a token");
                require(static_cast<size_t>(steps->features().width) == n_labels * n_labels,
                        "features must be of pairs of labels");
                check_same_features(*steps, *std::get<0>(given[0]));
                steps->attributes();  // made under the lock
                groups.emplace_back(chain->offsets, chain->forest.parent,
                                    std::vector<int32_t>(row.data(), row.data() + row.size()), steps->rows().size());
                ScreenBatch batch{steps, groups.back().start.data(), groups.back().steps.data(), chain->shape(), {},
                                  {}};
                for (const auto& [sign, posterior, node] : terms) {
                    check_posterior(posterior, *chain);
                    require(node.size() == n_tokens * n_labels, "marginals must be tokens × labels");
                    batch.terms.push_back({sign, posterior, node.data()});
                }
                for (const auto& [times, labels] : outputs) {
                    chain->check_labels(labels);
                    require(times.size() == n_tokens, "one number a token");
                    batch.outputs.push_back({times.data(), labels.data()});
                }
                batches.push_back(std::move(batch));
            }
            std::vector<int64_t> features;
            std::vector<double> gradients;
            if (!batches.empty()) {
                nb::gil_scoped_release free;
                kernels().screen_pairs(batches, threshold, features, gradients, threads);
            }
            return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(gradients)));
        },
        "batches"_a, "threshold"_a, "threads"_a,
        "Features of label pairs with a gradient above a threshold, ascending.");
    m.def(
        "screen_nodes",
        [](const std::vector<std::tuple<const LinearMap*, In2<double>, Outputs>>& given, double threshold,
           Threads threads) {
            std::vector<NodeScreenBatch> batches;
            for (const auto& [map, part, outputs] : given) {
                require(map, "a batch is a map and marginals");
                check_same_features(*map, *std::get<0>(given[0]));
                const int64_t n_rows = map->rows().size(), width = map->features().width;
                require(static_cast<int64_t>(part.shape(0)) == n_rows && static_cast<int64_t>(part.shape(1)) == width,
                        "marginals must be rows × columns");
                map->attributes();
                NodeScreenBatch batch{map, part.data(), {}};
                for (const auto& [times, labels] : outputs) {
                    require(static_cast<int64_t>(labels.size()) == n_rows && times.size() == labels.size(),
                            "one label and one number a token");
                    for (size_t t = 0; t < labels.size(); ++t)
                        require(labels(t) >= 0 && labels(t) < width, "a label is out of range");
                    batch.outputs.push_back({times.data(), labels.data()});
                }
                batches.push_back(std::move(batch));
            }
            std::vector<int64_t> features;
            std::vector<double> gradients;
            if (!batches.empty()) {
                nb::gil_scoped_release free;
                kernels().screen_nodes(batches, threshold, features, gradients, threads);
            }
            return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(gradients)));
        },
        "batches"_a, "threshold"_a, "threads"_a, "Features of labels with a gradient above a threshold, ascending.");
}
