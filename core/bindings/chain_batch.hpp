// What Python holds of a batch of chains, or of trees: checked arrays, and the shape that the core's functions take.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/binding_arrays.hpp"
#include "chains/chain_shape.hpp"
#include "chains/forest.hpp"

namespace parsimon {

// Steps (all tokens but the first of each sequence; in trees, all nodes but roots) grouped by a number below n that
// each has; −1 is in no group.
struct GroupedSteps {
    std::vector<int64_t> start;
    std::vector<int32_t> steps;

    GroupedSteps() = default;
    GroupedSteps(const std::vector<int64_t>& offsets, const std::vector<int32_t>& parent,
                 const std::vector<int32_t>& number, int64_t n)
        : start(n + 1, 0) {
        each_step(offsets, parent, [&](int64_t t) {
            require(number[t] < n, "a step's row is out of range");
            if (number[t] >= 0) ++start[number[t] + 1];
        });
        for (int64_t k = 0; k < n; ++k) start[k + 1] += start[k];
        steps.resize(start.back());
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        each_step(offsets, parent, [&](int64_t t) {
            if (number[t] >= 0) steps[next[number[t]]++] = static_cast<int32_t>(t);
        });
    }

    template <class Body>
    static void each_step(const std::vector<int64_t>& offsets, const std::vector<int32_t>& parent, Body&& body) {
        for (size_t i = 0; i + 1 < offsets.size(); ++i)
            for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t)
                if (parent.empty() ? t > offsets[i] : parent[t] >= 0) body(t);
    }
};

// A chain's shape, or that of a batch of trees, with the arrays it points to.
struct ChainBatch {
    std::vector<int64_t> offsets, piece_start, single_start;
    std::vector<int32_t> pair_kind, piece_kind, row, row_kind;
    std::vector<uint32_t> single;
    GroupedSteps by_kind, by_row;
    std::vector<double> weight;
    int32_t n_labels;
    int64_t n_kinds;
    Forest forest;

    ChainBatch(const In<int64_t>& offsets_in, const In<int32_t>& kinds, const std::optional<In<double>>& weights,
               int32_t n_labels, int64_t n_kinds, const std::optional<In<int32_t>>& rows,
               const std::optional<In<int32_t>>& row_kinds, const std::optional<In<int64_t>>& starts,
               const std::optional<In<uint32_t>>& singles, Forest trees = {})
        : offsets(checked_offsets(offsets_in, static_cast<int64_t>(kinds.size()))),
          pair_kind(kinds.data(), kinds.data() + kinds.size()), n_labels(n_labels), n_kinds(n_kinds),
          forest(std::move(trees)) {
        require(n_labels > 0 && n_labels < most_labels, "there must be at least one label and fewer than 65,536");
        require(offsets.back() <= most_numbers, "there are too many tokens for one batch");
        if (weights) {
            require(weights->size() == offsets.size() - 1, "there must be one weight a sequence");
            require_finite(*weights, "a sequence's weight is not finite");
            weight.assign(weights->data(), weights->data() + weights->size());
        }
        require(n_kinds >= 0 && n_kinds <= most_numbers, "the number of matrices of pair scores is out of range");
        GroupedSteps::each_step(offsets, forest.parent, [&](int64_t t) {
            require(pair_kind[t] >= -1 && pair_kind[t] < n_kinds, "a pair kind is out of range");
        });
        if (rows && row_kinds && row_kinds->size()) {
            require(starts && singles, "rows of single pairs need their starts and their pairs");
            take_singles(*rows, *row_kinds, *starts, *singles);
        }
        group_steps();
    }

    void take_singles(const In<int32_t>& rows, const In<int32_t>& row_kinds, const In<int64_t>& starts,
                      const In<uint32_t>& singles) {
        require(rows.size() == pair_kind.size() && starts.size() == row_kinds.size() + 1,
                "there must be one row a token");
        row.assign(rows.data(), rows.data() + rows.size());
        row_kind.assign(row_kinds.data(), row_kinds.data() + row_kinds.size());
        single_start = checked_offsets(starts, static_cast<int64_t>(singles.size()));
        single.assign(singles.data(), singles.data() + singles.size());
        for (const uint32_t pair : single)
            require(first_of(pair) < n_labels && second_of(pair) < n_labels, "a label is out of range");
        for (size_t r = 0; r < row_kind.size(); ++r) {
            const auto first = single.begin() + single_start[r], last = single.begin() + single_start[r + 1];
            require(std::adjacent_find(first, last, std::greater_equal<>()) == last, "single pairs must ascend");
            require(row_kind[r] >= -1 && row_kind[r] < n_kinds, "a row's matrix is out of range");
        }
        by_row = GroupedSteps(offsets, forest.parent, row, static_cast<int64_t>(row_kind.size()));
        for (size_t r = 0; r < row_kind.size(); ++r)
            for (int64_t s = by_row.start[r]; s < by_row.start[r + 1]; ++s)
                require(pair_kind[by_row.steps[s]] == row_kind[r], "all steps of a row must have its matrix");
    }

    // Steps sorted by kind, cut into pieces of at most 2048.
    void group_steps() {
        constexpr int64_t longest = 2048;
        by_kind = GroupedSteps(offsets, forest.parent, pair_kind, n_kinds);
        for (int64_t k = 0; k < n_kinds; ++k)
            for (int64_t at = by_kind.start[k]; at < by_kind.start[k + 1]; at += longest) {
                piece_start.push_back(at);
                piece_kind.push_back(static_cast<int32_t>(k));
            }
        piece_start.push_back(by_kind.start.back());
    }

    ChainShape shape() const {
        return {
            .n_sequences = static_cast<int64_t>(offsets.size()) - 1,
            .offsets = offsets.data(),
            .n_labels = n_labels,
            .n_kinds = n_kinds,
            .pair_kind = pair_kind.data(),
            .weight = weight.empty() ? nullptr : weight.data(),
            .n_pieces = static_cast<int64_t>(piece_kind.size()),
            .piece_start = piece_start.data(),
            .piece_kind = piece_kind.data(),
            .steps = by_kind.steps.data(),
            .n_rows = static_cast<int64_t>(row_kind.size()),
            .row = row.empty() ? nullptr : row.data(),
            .row_kind = row_kind.data(),
            .single_start = single_start.data(),
            .single = single.data(),
            .row_start = by_row.start.data(),
            .row_steps = by_row.steps.data(),
            .parent = pointer(forest.parent),
            .order = pointer(forest.order),
            .child_start = pointer(forest.child_start),
            .children = pointer(forest.children),
            .node_kind = pointer(forest.node_kind),
            .bars = pointer(forest.bars),
        };
    }
    bool is_tree() const { return !forest.order.empty() || !forest.child_start.empty(); }

    void check_labels(const In<int32_t>& labels) const {
        require(labels.size() == pair_kind.size(), "there must be one label a token");
        for (size_t t = 0; t < labels.size(); ++t)
            require(labels(t) >= 0 && labels(t) < n_labels, "a label is out of range");
    }

    template <class Node, class Pair, class Single>
    void check(const Node& node, const Pair& pair, const Single& singles) const {
        require(singles.size() == single.size(), "there must be one score a single pair");
        require(node.shape(0) == pair_kind.size() && node.shape(1) == static_cast<size_t>(n_labels),
                "node scores must be tokens × labels");
        require(pair.shape(0) == static_cast<size_t>(n_kinds) && pair.shape(1) == static_cast<size_t>(n_labels)
                    && pair.shape(2) == static_cast<size_t>(n_labels),
                "pair scores must be kinds × labels × labels");
    }

  private:
    template <class T>
    static const T* pointer(const std::vector<T>& values) {
        return values.empty() ? nullptr : values.data();
    }
};

}  // namespace parsimon
