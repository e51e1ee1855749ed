// log Z and marginals of chains against the enumeration of all outputs, in both builds of the kernels.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "tests/chains/random_chains.hpp"

using namespace parsimon;
using namespace check;

namespace {

void check_marginals(const Chains& c, double tolerance = 1e-11) {
    const Marginals expected = enumerated(c);
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        const Marginals one = computed(*table, c, 1), two = computed(*table, c, 2),
                        in_place = computed(*table, c, 2, true);
        CHECK(one.feasible);
        check_equal(one.log_z, expected.log_z, tolerance);
        check_equal(one.node, expected.node, tolerance);
        check_equal(one.pair, expected.pair, tolerance);
        check_equal(one.single, expected.single, tolerance);
        for (const Marginals* other : {&two, &in_place})
            CHECK(same_bits(one.log_z, other->log_z) && same_bits(one.node, other->node)
                  && same_bits(one.pair, other->pair) && same_bits(one.single, other->single));
    }
}

}  // namespace

TEST("marginals are those of all outputs, weighted by sequence") {
    for (const bool weighted : {false, true})
        for (const int32_t labels : {1, 2, 3, 4})
            for (const int64_t kinds : {1, 3}) check_marginals(Chains(ragged, labels, kinds, 3.0, labels, weighted));
}

TEST("every width of the vector loops") {
    for (const int32_t labels : {5, 8, 9, 13, 17, 21, 25, 29, 32, 33, 39, 61}) {
        const Chains c({2, 1, 2, 2}, labels, 2, 2.0, labels);
        check_marginals(c);
    }
}

TEST("single pairs, with a matrix and without") {
    for (const bool weighted : {false, true})
        for (const int64_t kinds : {0, 1, 3})
            for (const int32_t labels : {1, 2, 3, 5}) {
                const Chains c({4, 3, 0, 1, 2, 0, 4, 1}, labels, kinds, 3.0, 100 + labels, weighted, 3);
                check_marginals(c);
            }
    for (const int32_t labels : {9, 17, 33, 39}) {
        const Chains c({2, 1, 2, 2}, labels, 2, 2.0, labels, false, 2);
        check_marginals(c);
    }
}

TEST("single pairs that take away all that their matrix has, and ones too far apart for scaled sums") {
    for (const double times : {12.0, 60.0, 400.0}) {
        Chains c(ragged, 3, 1, 2.0, 61, true, 3);
        for (double& x : c.single_score) x *= times;
        check_marginals(c, 1e-9);
    }
}

TEST("scores too far apart for scaled sums are summed in logs, next to sequences that are not") {
    for (const bool weighted : {false, true}) {
        Chains c(ragged, 3, 2, 2.0, 41, weighted);
        for (size_t i = 0; i < c.node.size() / 2; ++i) c.node[i] *= 400;
        check_marginals(c, 1e-10);
        for (double& x : c.pair) x *= 400;
        check_marginals(c, 1e-9);
    }
}

TEST("labels that lie far apart while their pairs do not, so that what is lost does not matter") {
    for (const double times : {100.0, 400.0, 1e4, 1e6})
        for (const double pairs : {1.0, 25.0, 140.0}) {
            Chains c(ragged, 3, 2, 2.0, 48, true, 2);
            for (double& x : c.node) x *= times;
            for (double& x : c.pair) x *= pairs;
            for (double& x : c.single_score) x *= pairs;
            check_marginals(c, 1e-9);
        }
    // A label that loses by a hair less than its neighbours' pairs can give back.
    for (const double apart : {280.0, 299.0, 301.0, 350.0, 700.0}) {
        Chains c({3}, 2, 1, 0.0, 49);
        c.pair = {0, -apart, -apart, 0};
        c.node = {0, -900, -2 * apart + 1, 0, 0, -900};
        check_marginals(c, 1e-9);
    }
}

TEST("sums in logs: every width of the vector loops, single pairs, and sums taken anew") {
    for (const int32_t labels : {1, 5, 8, 9, 13, 17, 33, 39})
        for (const int rows : {0, 2}) {
            Chains c({2, 1, 2, 2}, labels, 2, 2.0, labels, false, rows);
            for (double& x : c.node) x *= 100;
            for (double& x : c.pair) x *= 300;
            for (size_t e = 0; e < c.single_score.size(); ++e) c.single_score[e] *= e % 3 ? 300 : 1e-6;
            check_marginals(c, 1e-9);
        }
}

TEST("forbidden labels and pairs") {
    Chains c(ragged, 3, 2, 2.0, 43);
    c.pair[1] = c.pair[5] = c.pair[9] = -infinity;
    c.node[0] = c.node[4] = c.node[6 * 3 + 1] = -infinity;
    check_marginals(c);
    for (size_t i = 0; i < c.node.size(); ++i) c.node[i] *= 100;  // beyond what is safe with forbidden pairs
    check_marginals(c, 1e-10);
}

TEST("a detour through what is all but impossible keeps its probability") {
    // Label 1 may not follow itself and label 0 scores 90 lower: every path must take it now and then.
    Chains c({6}, 2, 1, 0.0, 44);
    c.pair = {0, 0, 0, -infinity};
    for (size_t t = 0; t < 6; ++t) c.node[t * 2] = -90.0;
    check_marginals(c);
}

TEST("a sequence without any possible output is told, not computed") {
    Chains c({2, 3}, 2, 1, 1.0, 45);
    std::fill(c.node.begin() + 6, c.node.begin() + 8, -infinity);  // the second token of the second sequence
    std::vector<double> best(2);
    std::vector<int32_t> labels(5), draws(10);
    for (const Kernels* table : {&baseline_kernels(), &kernels()})
        for (const int threads : {1, 2}) {
            CHECK(!computed(*table, c, threads).feasible);
            CHECK(!table->chain_argmax(c.shape(), c.scores(), best.data(), labels.data(), threads));
            CHECK(best[0] > -infinity && best[1] == -infinity);
            CHECK(!table->chain_sample(c.shape(), c.scores(), 1, 2, draws.data(), threads));
        }
    std::fill(c.pair.begin(), c.pair.end(), -infinity);  // no pair at all
    CHECK(!computed(kernels(), c, 1).feasible);
}

TEST("a score that is not a number is told") {
    Chains c({2, 3}, 3, 1, 1.0, 46);
    c.node[7] = std::numeric_limits<double>::quiet_NaN();
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        const Marginals m = computed(*table, c, 2);
        CHECK(!m.feasible && std::isnan(m.log_z[1]) && !std::isnan(m.log_z[0]));
    }
}

TEST("large scores and long sequences stay exact") {
    // All pairs alike: tokens are independent, so log Z and marginals are known for any length.
    const int64_t length = 20000;
    Chains c({length}, 3, 1, 0.0, 47);
    std::fill(c.pair.begin(), c.pair.end(), 2.5);
    for (const double high : {1.0, 500.0}) {
        const double each = std::log1p(2 * std::exp(-1.0));
        const double expected = 2.5 * static_cast<double>(length - 1) + each * static_cast<double>(length);
        for (int64_t t = 0; t < length; ++t) {
            const double a = t % 2 ? high : -high;
            c.node[t * 3] = a;
            c.node[t * 3 + 1] = c.node[t * 3 + 2] = a - 1;
        }
        for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
            const Marginals m = computed(*table, c, 2);
            CHECK(m.feasible);
            CHECK_NEAR(m.log_z[0], expected, 1e-12);
            CHECK_NEAR(m.node[3 * (length / 2)], 1 / (1 + 2 * std::exp(-1.0)), 1e-12);
            CHECK_NEAR(std::accumulate(m.pair.begin(), m.pair.end(), 0.0), static_cast<double>(length - 1), 1e-10);
        }
    }
}

TEST("long sequences in logs stay exact") {
    // Tokens are independent, as all pairs are alike but for one that is next to impossible wherever it could be had.
    const int64_t length = 100000;
    Chains c({length}, 3, 1, 0.0, 47);
    c.pair = {0, 0, 0, 0, 0, 0, 0, 0, -1000};
    for (int64_t t = 0; t < length; ++t) {
        const double a = t % 2 ? 500.0 : -500.0;
        c.node[t * 3] = c.node[t * 3 + 1] = a;
        c.node[t * 3 + 2] = a - 100;
    }
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        const Marginals m = computed(*table, c, 2);
        CHECK(m.feasible);
        CHECK_NEAR(m.log_z[0], static_cast<double>(length) * std::log(2.0), 1e-11);
        for (const int64_t t : {int64_t{0}, length / 2, length - 1}) CHECK_NEAR(m.node[3 * t], 0.5, 1e-9);
        CHECK_NEAR(m.pair[1], static_cast<double>(length - 1) / 4, 1e-9);
    }
}

TEST("no sequences at all") {
    const Chains c({}, 3, 1, 1.0, 50);
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        CHECK(computed(*table, c, 2).feasible);
        CHECK(table->chain_argmax(c.shape(), c.scores(), nullptr, nullptr, 2));
        table->chain_kbest(c.shape(), c.scores(), 2, nullptr, nullptr, 2);
        CHECK(table->chain_sample(c.shape(), c.scores(), 1, 1, nullptr, 2));
    }
}
