// What Python sees of trees: a batch with parents, which otherwise answers what a chain does.
#include <limits>

#include "bindings/chain_batch.hpp"

using namespace parsimon;

namespace {

// Children by parent, and an order of all nodes in which parents come first: level by level from the roots, each level
// in the order given.
Forest checked_forest(const In<int32_t>& parent, const In<int64_t>& offsets_in) {
    Forest forest;
    const auto n = static_cast<int64_t>(parent.size());
    require(n <= most_numbers, "there are too many nodes for one batch");
    const std::vector<int64_t> offsets = checked_offsets(offsets_in, n);
    forest.parent.assign(parent.data(), parent.data() + n);
    forest.child_start.assign(n + 1, 0);
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
        for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) {
            const int64_t p = forest.parent[t];
            require(p == -1 || (p >= offsets[i] && p < offsets[i + 1]),
                    "a parent must be a node of the same tree, or -1");
            if (p >= 0) ++forest.child_start[p + 1];
        }
    for (int64_t t = 0; t < n; ++t) forest.child_start[t + 1] += forest.child_start[t];
    forest.children.resize(forest.child_start.back());
    std::vector<int64_t> next(forest.child_start.begin(), forest.child_start.end() - 1);
    for (int64_t t = 0; t < n; ++t)
        if (forest.parent[t] >= 0) forest.children[next[forest.parent[t]]++] = static_cast<int32_t>(t);
    forest.order.reserve(n);
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        size_t at = forest.order.size();
        for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t)
            if (forest.parent[t] < 0) forest.order.push_back(static_cast<int32_t>(t));
        for (; at < forest.order.size(); ++at)
            for (int64_t c = forest.child_start[forest.order[at]]; c < forest.child_start[forest.order[at] + 1]; ++c)
                forest.order.push_back(forest.children[c]);
        require(static_cast<int64_t>(forest.order.size()) == offsets[i + 1], "some nodes are their own ancestors");
    }
    return forest;
}

void bar_labels(Forest& forest, const In<int32_t>& node_kind, const In2<bool>& allowed, int32_t n_labels) {
    require(node_kind.size() == forest.parent.size(), "there must be one kind a node");
    require(allowed.shape(1) == static_cast<size_t>(n_labels), "what is allowed must be kinds × labels");
    for (size_t t = 0; t < node_kind.size(); ++t)
        require(node_kind(t) >= 0 && node_kind(t) < static_cast<int32_t>(allowed.shape(0)),
                "a node's kind is out of range");
    forest.node_kind.assign(node_kind.data(), node_kind.data() + node_kind.size());
    for (size_t j = 0; j < allowed.size(); ++j)
        forest.bars.push_back(is_true(allowed.data() + j) ? 0.0 : -std::numeric_limits<double>::infinity());
}

struct Tree : ChainBatch {
    using ChainBatch::ChainBatch;
};

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<Tree, ChainBatch>(m, "Tree")
        .def(
            "__init__",
            [](Tree* self, const In<int64_t>& offsets, const In<int32_t>& parent, const In<int32_t>& kinds,
               const std::optional<In<double>>& weights, int32_t n_labels, int64_t n_kinds,
               const std::optional<In<int32_t>>& rows, const std::optional<In<int32_t>>& row_kinds,
               const std::optional<In<int64_t>>& starts, const std::optional<In<uint32_t>>& singles,
               const std::optional<In<int32_t>>& node_kind, const std::optional<In2<bool>>& allowed) {
                require(kinds.size() == parent.size(), "there must be one pair kind a node");
                Forest forest = checked_forest(parent, offsets);
                require(node_kind.has_value() == allowed.has_value(), "kinds of nodes and what they allow go together");
                if (node_kind) bar_labels(forest, *node_kind, *allowed, n_labels);
                new (self) Tree(offsets, kinds, weights, n_labels, n_kinds, rows, row_kinds, starts, singles,
                                std::move(forest));
            },
            "offsets"_a, "parent"_a, "pair_kind"_a, "weights"_a.none(), "n_labels"_a, "n_kinds"_a, "row"_a = nb::none(),
            "row_kind"_a = nb::none(), "single_start"_a = nb::none(), "single"_a = nb::none(),
            "node_kind"_a = nb::none(), "allowed"_a = nb::none())
        .def_prop_ro(
            "order", [](const Tree& tree) { return to_numpy(std::vector<int32_t>(tree.forest.order)); },
            nb::rv_policy::move, "All nodes, parents before their children.");
}
