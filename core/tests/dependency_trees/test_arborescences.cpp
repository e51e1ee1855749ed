#include <cmath>
#include <random>
#include <tuple>

#include "dependency_trees/arborescences.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

bool is_tree(const std::vector<int32_t>& head) {
    const auto n = static_cast<int32_t>(head.size());
    for (int32_t m = 1; m <= n; ++m) {
        int32_t at = m, steps = 0;
        while (at != 0 && steps++ <= n) at = head[at - 1];
        if (at != 0) return false;
    }
    return true;
}

bool crosses(const std::vector<int32_t>& head) {
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
void each_tree(int32_t n, TreeKind kind, Body&& body) {
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

std::vector<double> random_scores(int32_t n, double scale, double forbidden, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<double> score(static_cast<size_t>(n) * (n + 1));
    for (double& s : score) s = uniform(random) < forbidden ? no_tree : scale * normal(random);
    return score;
}

const std::vector<TreeKind> kinds{{false, false}, {false, true}, {true, false}, {true, true}};

void compare(const std::vector<double>& score, int32_t n, TreeKind kind, TreeOracles& oracles) {
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

}  // namespace

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

TEST("the k best trees with labels are those of enumeration, each once") {
    const int32_t n = 3, n_labels = 2, k = 40;
    for (const TreeKind kind : kinds) {
        const auto part = random_scores(n, 1.0, 0.2, 7), more = random_scores(n, 1.0, 0.2, 8);
        std::vector<double> both(2 * part.size()), all;
        for (size_t a = 0; a < part.size(); ++a) {
            both[2 * a] = part[a];
            both[2 * a + 1] = more[a];
        }
        each_tree(n, kind, [&](const auto& head) {
            for (int labels = 0; labels < 8; ++labels) {
                double sum = 0;
                for (int32_t m = 1; m <= n; ++m) sum += both[2 * arc_at(n, head[m - 1], m) + (labels >> (m - 1) & 1)];
                if (sum > no_tree) all.push_back(sum);
            }
        });
        std::sort(all.rbegin(), all.rend());
        all.resize(k, no_tree);
        std::vector<double> values(k);
        std::vector<int32_t> choices(k * n);
        TreeOracles(kind).best_trees(both.data(), n, n_labels, k, values.data(), 1, choices.data(), n);
        for (int32_t r = 0; r < k; ++r) CHECK_NEAR(values[r], all[r], 1e-12);
        for (int32_t r = 0; r < k && values[r] > no_tree; ++r)
            for (int32_t q = 0; q < r; ++q) CHECK(!std::equal(&choices[r * n], &choices[r * n] + n, &choices[q * n]));
    }
}

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
