#include <cmath>
#include <random>
#include <vector>

#include "dependency_trees/arborescences.hpp"
#include "dependency_trees/matrix_tree.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/all_trees.hpp"

using namespace parsimon;
using namespace check;

TEST("a tree that hangs by a thread has the marginals it should") {
    // Tokens 1 and 2 prefer each other by e^1000, and 3 hangs on 2; the root is hardly reached.
    const int32_t n = 3;
    std::vector<double> score(n * (n + 1), no_tree);
    score[arc_at(n, 2, 1)] = score[arc_at(n, 1, 2)] = 500;
    score[arc_at(n, 0, 1)] = -500;
    score[arc_at(n, 0, 2)] = -499;
    score[arc_at(n, 2, 3)] = 0;
    for (const TreeKind kind : kinds) {
        std::vector<double> marginal(score.size());
        const double log_z = TreeOracles(kind).log_partition(score.data(), n, marginal.data());
        CHECK_NEAR(log_z, 1 + std::log1p(std::exp(-1.0)), 1e-12);
        CHECK_NEAR(marginal[arc_at(n, 0, 2)], 1 / (1 + std::exp(-1.0)), 1e-12);
        CHECK_NEAR(marginal[arc_at(n, 2, 3)], 1.0, 1e-12);
    }
}

TEST("where arcs are forbidden, marginals do not depend on what doubles can still tell apart") {
    // 3 and 5 go round in a circle, left by way of 4 → 5, and 4 hangs on 1 or 2: products of e^−730 and e^−731.
    const int32_t n = 5;
    std::vector<double> score(n * (n + 1), no_tree);
    for (const auto& [head, modifier, each] : std::vector<std::tuple<int32_t, int32_t, double>>{{0, 1, 0},
                                                                                                {3, 1, 0},
                                                                                                {0, 2, 0},
                                                                                                {5, 3, 0},
                                                                                                {3, 4, 0},
                                                                                                {1, 4, -330},
                                                                                                {2, 4, -331},
                                                                                                {3, 5, 0},
                                                                                                {4, 5, -400}})
        score[arc_at(n, head, modifier)] = each;
    for (const TreeKind kind : kinds) {
        TreeOracles oracles(kind);
        compare(score, n, kind, oracles);
    }
    std::vector<double> marginal(score.size());
    TreeOracles({false, false}).log_partition(score.data(), n, marginal.data());
    CHECK_NEAR(marginal[arc_at(n, 3, 1)], 1 / (std::exp(1.0) + 2), 1e-12);
}
