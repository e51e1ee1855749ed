// Random scores of arcs, and all trees over a few tokens.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "dependency_trees/arborescences.hpp"
#include "dependency_trees/arcs.hpp"
#include "tests/check.hpp"

namespace check {

using namespace parsimon;

inline bool is_tree(const std::vector<int32_t>& head) {
    const auto n = static_cast<int32_t>(head.size());
    for (int32_t m = 1; m <= n; ++m) {
        int32_t at = m, steps = 0;
        while (at != 0 && steps++ <= n) at = head[at - 1];
        if (at != 0) return false;
    }
    return true;
}

inline bool crosses(const std::vector<int32_t>& head) {
    const auto n = static_cast<int32_t>(head.size());
    for (int32_t a = 1; a <= n; ++a)
        for (int32_t b = 1; b <= n; ++b) {
            const int32_t from = std::min(a, head[a - 1]), to = std::max(a, head[a - 1]);
            if (from < std::min(b, head[b - 1]) && std::min(b, head[b - 1]) < to && to < std::max(b, head[b - 1]))
                return true;
        }
    return false;
}

// Calls body(head) for every tree of a kind.
template <class Body>
inline void each_tree(int32_t n, TreeKind kind, Body&& body) {
    std::vector<int32_t> head(n, 0);
    while (true) {
        if (is_tree(head) && !(kind.projective && crosses(head))
            && !(kind.single_root && root_arcs(n, head.data()) > 1))
            body(head);
        int32_t m = 0;
        while (m < n && ++head[m] > n) head[m++] = 0;
        if (m == n) return;
    }
}

inline std::vector<double> random_scores(int32_t n, double scale, double forbidden, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<double> score(static_cast<size_t>(n) * (n + 1));
    for (double& s : score) s = uniform(random) < forbidden ? no_tree : scale * normal(random);
    return score;
}

inline const std::vector<TreeKind> kinds{{false, false}, {false, true}, {true, false}, {true, true}};

// The best tree, log Z and marginals against the enumeration of all trees.
inline void compare(const std::vector<double>& score, int32_t n, TreeKind kind, TreeOracles& oracles) {
    double high = no_tree;
    each_tree(n, kind, [&](const auto& head) { high = std::max(high, tree_score(score.data(), n, head.data())); });
    std::vector<int32_t> head(n);
    const double best = oracles.best(score.data(), n, head.data());
    CHECK_NEAR(best, high, 1e-12);
    std::vector<double> marginal = score;
    const double log_z = oracles.log_partition(marginal.data(), n, marginal.data());
    if (high == no_tree) {
        CHECK(log_z == no_tree);
        return;
    }
    CHECK(is_tree(head) && !(kind.projective && crosses(head)) && !(kind.single_root && root_arcs(n, head.data()) > 1));
    long double z = 0;
    std::vector<long double> wanted(score.size(), 0.0L);
    each_tree(n, kind, [&](const auto& each) {
        const long double p = std::exp(static_cast<long double>(tree_score(score.data(), n, each.data())) - high);
        z += p;
        for (int32_t m = 1; m <= n; ++m) wanted[arc_at(n, each[m - 1], m)] += p;
    });
    CHECK_NEAR(log_z, high + static_cast<double>(std::log(z)), 1e-12);
    for (size_t a = 0; a < wanted.size(); ++a) CHECK_NEAR(marginal[a], static_cast<double>(wanted[a] / z), 1e-11);
}

}  // namespace check
