// Random trees with labelled nodes, and all their outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "chains/chain_shape.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

namespace check {

using namespace parsimon;

// One tree in which parents come before their children; edges have one of two matrices, and some labels are barred.
struct RandomTree {
    int32_t n_labels;
    std::vector<int64_t> offsets, piece_start{0}, child_start;
    std::vector<int32_t> parent, order, children, kind, piece_kind, steps, node_kind;
    std::vector<double> node, pair, bars;

    RandomTree(int64_t n, int32_t labels, double spread, uint32_t seed, double forbidden = 0)
        : n_labels(labels), offsets{0, n} {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> score(-spread, spread), share(0, 1);
        for (int64_t t = 0; t < n; ++t) {
            parent.push_back(t == 0 || share(random) < 0.2 ? -1 : static_cast<int32_t>(random() % t));
            order.push_back(static_cast<int32_t>(t));
            kind.push_back(static_cast<int32_t>(random() % 2));
            node_kind.push_back(static_cast<int32_t>(random() % 2));
        }
        child_start.push_back(0);
        for (int64_t t = 0; t < n; ++t) {
            for (int64_t c = 0; c < n; ++c)
                if (parent[c] == t) children.push_back(static_cast<int32_t>(c));
            child_start.push_back(static_cast<int64_t>(children.size()));
        }
        for (int32_t k = 0; k < 2; ++k) {
            for (int64_t t = 0; t < n; ++t)
                if (parent[t] >= 0 && kind[t] == k) steps.push_back(static_cast<int32_t>(t));
            piece_kind.push_back(k);
            piece_start.push_back(static_cast<int64_t>(steps.size()));
        }
        for (int64_t i = 0; i < n * labels; ++i) node.push_back(score(random));
        for (int64_t i = 0; i < 2 * labels * labels; ++i)
            pair.push_back(share(random) < forbidden ? -infinity : score(random));
        bars.assign(2 * labels, 0.0);
        bars[labels] = -infinity;  // nodes of the second kind cannot have the first label
    }

    ChainShape shape() const {
        ChainShape out{1, offsets.data(),     n_labels,          2,           kind.data(), nullptr,
                       2, piece_start.data(), piece_kind.data(), steps.data()};
        out.parent = parent.data();
        out.order = order.data();
        out.child_start = child_start.data();
        out.children = children.data();
        out.node_kind = node_kind.data();
        out.bars = bars.data();
        return out;
    }
    PartScores scores() const { return {node.data(), pair.data()}; }

    double score(const std::vector<int32_t>& y) const {
        double sum = 0;
        for (size_t t = 0; t < y.size(); ++t) {
            sum += node[t * n_labels + y[t]] + bars[node_kind[t] * n_labels + y[t]];
            if (parent[t] >= 0) sum += pair[(kind[t] * n_labels + y[parent[t]]) * n_labels + y[t]];
        }
        return sum;
    }

    std::vector<std::pair<double, std::vector<int32_t>>> outputs() const {
        std::vector<std::pair<double, std::vector<int32_t>>> all;
        std::vector<int32_t> y(parent.size(), 0);
        for (;;) {
            if (const double s = score(y); s > -infinity) all.emplace_back(s, y);
            size_t t = 0;
            while (t < y.size() && ++y[t] == n_labels) y[t++] = 0;
            if (t == y.size()) break;
        }
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        return all;
    }
};

}  // namespace check
