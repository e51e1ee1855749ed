// The best outputs of chains, and draws, against the enumeration of all outputs, in both builds of the kernels.
#include <algorithm>
#include <random>

#include "tests/chains/random_chains.hpp"

using namespace parsimon;
using namespace check;

namespace {

void check_best(const Chains& c, int32_t k) {
    const int64_t N = c.n_sequences(), T = c.n_tokens();
    for (const Kernels* table : {&baseline_kernels(), &kernels()})
        for (const int threads : {1, 2}) {
            std::vector<double> best(N), scores(k * N), attained(N);
            std::vector<int32_t> labels(T), lists(k * T);
            CHECK(table->chain_argmax(c.shape(), c.scores(), best.data(), labels.data(), threads));
            table->chain_kbest(c.shape(), c.scores(), k, scores.data(), lists.data(), threads);
            table->chain_score(c.shape(), c.scores(), labels.data(), attained.data(), threads);
            for (int64_t i = 0; i < N; ++i) {
                const auto outputs = c.outputs(i);
                const std::vector<int32_t> found(labels.begin() + c.offsets[i], labels.begin() + c.offsets[i + 1]);
                CHECK_NEAR(best[i], outputs[0].first, 1e-12);
                CHECK_NEAR(attained[i], outputs[0].first, 1e-12);
                CHECK_NEAR(c.score(i, found), outputs[0].first, 1e-12);
                for (int32_t r = 0; r < k; ++r) {
                    const auto first = lists.begin() + r * T + c.offsets[i];
                    const std::vector<int32_t> listed(first, first + (c.offsets[i + 1] - c.offsets[i]));
                    if (static_cast<size_t>(r) >= outputs.size()) {
                        CHECK(scores[r * N + i] == -infinity);
                        CHECK(std::all_of(listed.begin(), listed.end(), [](int32_t y) { return y == -1; }));
                    } else {
                        CHECK_NEAR(scores[r * N + i], outputs[r].first, 1e-12);
                        CHECK(listed == outputs[r].second);
                    }
                }
            }
        }
}

}  // namespace

TEST("the best and the k best outputs, with fewer than k where there are fewer") {
    for (const int32_t labels : {1, 2, 3}) {
        check_best(Chains(ragged, labels, 2, 3.0, 20 + labels), 1);
        check_best(Chains(ragged, labels, 2, 3.0, 30 + labels), 7);
    }
}

TEST("adding an output's parts, and the score they make") {
    for (const bool weighted : {false, true}) {
        const Chains c(ragged, 3, 2, 1.0, 48, weighted, 3);
        std::vector<int32_t> labels;
        std::mt19937 random(48);
        for (int64_t t = 0; t < c.n_tokens(); ++t) labels.push_back(static_cast<int32_t>(random() % 3));
        for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
            std::vector<double> node(c.node.size(), 0.5), pair(c.pair.size(), 0.25), single(c.single.size(), 0.75),
                attained(c.n_sequences());
            table->chain_add(c.shape(), labels.data(), -2.0, {node.data(), pair.data(), single.data()});
            table->chain_score(c.shape(), c.scores(), labels.data(), attained.data(), 2);
            double by_parts = 0, by_score = 0;
            for (size_t i = 0; i < node.size(); ++i) by_parts += (node[i] - 0.5) * c.node[i];
            for (size_t i = 0; i < pair.size(); ++i) by_parts += (pair[i] - 0.25) * c.pair[i];
            for (size_t i = 0; i < single.size(); ++i) by_parts += (single[i] - 0.75) * c.single_score[i];
            for (int64_t i = 0; i < c.n_sequences(); ++i) {
                const std::vector<int32_t> y(labels.begin() + c.offsets[i], labels.begin() + c.offsets[i + 1]);
                CHECK_NEAR(attained[i], c.score(i, y), 1e-12);
                by_score += (weighted ? c.weight[i] : 1.0) * attained[i];
            }
            CHECK_NEAR(by_parts, -2.0 * by_score, 1e-12);
        }
    }
}

TEST("samples have the marginals' frequencies, and do not depend on threads") {
    Chains c({3, 0, 2}, 3, 2, 1.0, 49);
    c.node[1] = -infinity;
    const int32_t draws = 20000;
    const Marginals expected = enumerated(c);
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<int32_t> labels(draws * 5), two(draws * 5), other(draws * 5);
        CHECK(table->chain_sample(c.shape(), c.scores(), 7, draws, labels.data(), 1));
        CHECK(table->chain_sample(c.shape(), c.scores(), 7, draws, two.data(), 2));
        CHECK(table->chain_sample(c.shape(), c.scores(), 8, draws, other.data(), 2));
        CHECK(labels == two && labels != other);
        std::vector<double> share(15, 0.0);
        for (int32_t d = 0; d < draws; ++d)
            for (int64_t t = 0; t < 5; ++t) share[t * 3 + labels[d * 5 + t]] += 1.0 / draws;
        check_equal(share, expected.node, 0.02);
        CHECK(share[1] == 0);
    }
}

TEST("decoding: every width of the vector loops") {
    for (const int32_t labels : {5, 8, 9, 13, 17, 21, 25, 29, 32, 33, 39, 61}) {
        const Chains c({2, 1, 2, 2}, labels, 2, 2.0, labels);
        check_best(c, 3);
    }
}

TEST("decoding: single pairs, with a matrix and without") {
    for (const bool weighted : {false, true})
        for (const int64_t kinds : {0, 1, 3})
            for (const int32_t labels : {1, 2, 3, 5}) {
                const Chains c({4, 3, 0, 1, 2, 0, 4, 1}, labels, kinds, 3.0, 100 + labels, weighted, 3);
                check_best(c, 3);
            }
    for (const int32_t labels : {9, 17, 33, 39}) {
        const Chains c({2, 1, 2, 2}, labels, 2, 2.0, labels, false, 2);
        check_best(c, 3);
    }
}

TEST("decoding: single pairs with large scores") {
    for (const double times : {12.0, 60.0, 400.0}) {
        Chains c(ragged, 3, 1, 2.0, 61, true, 3);
        for (double& x : c.single_score) x *= times;
        check_best(c, 2);
    }
}

TEST("decoding: scores that are far apart") {
    for (const bool weighted : {false, true}) {
        Chains c(ragged, 3, 2, 2.0, 41, weighted);
        for (size_t i = 0; i < c.node.size() / 2; ++i) c.node[i] *= 400;
        check_best(c, 2);
        for (double& x : c.pair) x *= 400;
        check_best(c, 2);
    }
}

TEST("decoding: forbidden labels and pairs") {
    Chains c(ragged, 3, 2, 2.0, 43);
    c.pair[1] = c.pair[5] = c.pair[9] = -infinity;
    c.node[0] = c.node[4] = c.node[6 * 3 + 1] = -infinity;
    check_best(c, 4);
    for (size_t i = 0; i < c.node.size(); ++i) c.node[i] *= 100;  // beyond what is safe with forbidden pairs
    check_best(c, 4);
}
