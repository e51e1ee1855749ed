#include <cmath>
#include <random>
#include <vector>

#include "dependency_trees/arborescences.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/all_trees.hpp"

using namespace parsimon;
using namespace check;

TEST("trees of all kinds: the best, log Z and marginals are those of enumeration") {
    for (const TreeKind kind : kinds) {
        TreeOracles oracles(kind);  // its memory goes from sentence to sentence
        unsigned seed = 0;
        for (const int32_t n : {5, 1, 3, 2, 4, 0, 4})
            for (const double scale : {0.0, 1.0, 30.0, 500.0})
                for (const double forbidden : {0.0, 0.3, 0.6})
                    compare(random_scores(n, scale, forbidden, ++seed), n, kind, oracles);
    }
}

TEST("scores that are not numbers are told apart from sentences without a tree") {
    for (const TreeKind kind : kinds) {
        TreeOracles oracles(kind);
        std::vector<double> score = random_scores(3, 1.0, 0.0, 1), marginal(score.size());
        std::vector<int32_t> head(3);
        score[arc_at(3, 2, 2)] = not_numbers;  // a token as its own head: not looked at
        CHECK(oracles.best(score.data(), 3, head.data()) > no_tree);
        CHECK(oracles.log_partition(score.data(), 3, marginal.data()) > no_tree);
        CHECK(marginal[arc_at(3, 2, 2)] == 0.0);
        score[arc_at(3, 1, 2)] = not_numbers;
        CHECK(std::isnan(oracles.best(score.data(), 3, head.data())));
        CHECK(std::isnan(oracles.log_partition(score.data(), 3, marginal.data())));
    }
}

TEST("long sentences come out finite, and the same for any number of threads") {
    std::vector<int64_t> offsets{0};
    std::vector<double> score;
    for (const int32_t n : {40, 0, 25, 7, 60}) {
        offsets.push_back(offsets.back() + n);
        const auto more = random_scores(n, n == 25 ? 300.0 : 3.0, 0.0, n);
        score.insert(score.end(), more.begin(), more.end());
    }
    for (const TreeKind kind : kinds) {
        const Arborescences trees(offsets, kind);
        std::vector<double> log_z(5), one(score.size()), three(score.size());
        CHECK(trees.log_partition(score.data(), log_z.data(), one.data(), 1));
        CHECK(trees.log_partition(score.data(), log_z.data(), three.data(), 3));
        CHECK(one == three);
        int64_t at = 0;
        for (const int32_t n : {40, 0, 25, 7, 60})
            for (int32_t m = 0; m < n; ++m, at += n + 1) {
                double sum = 0;
                for (int32_t h = 0; h <= n; ++h) sum += one[at + h];
                CHECK_NEAR(sum, 1.0, 1e-9);
            }
    }
}
