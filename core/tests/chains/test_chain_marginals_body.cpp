// Every dynamic program against the enumeration of all outputs, in both builds of the kernels.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "chains/chain_shape.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A batch of chains with its scores. Steps are grouped by kind in pieces of at most three.
struct Chains {
    int32_t n_labels;
    int64_t n_kinds;
    std::vector<int64_t> offsets{0}, piece_start;
    std::vector<int32_t> pair_kind, piece_kind, steps;
    std::vector<double> weight, node, pair, single_score;
    // Single pairs: rows of them, each with its matrix.
    std::vector<int32_t> row, row_kind, row_steps;
    std::vector<int64_t> single_start, row_start;
    std::vector<uint32_t> single;

    Chains(const std::vector<int64_t>& lengths, int32_t labels, int64_t kinds, double spread, uint32_t seed,
           bool weighted = false, int rows = 0)
        : n_labels(labels), n_kinds(kinds) {
        std::mt19937 random(seed);
        for (const int64_t n : lengths) offsets.push_back(offsets.back() + n);
        for (int64_t t = 0; t < offsets.back(); ++t)
            pair_kind.push_back(kinds ? static_cast<int32_t>(random() % kinds) : -1);
        if (rows) add_singles(rows, spread, random);
        for (int64_t k = 0; k < kinds; ++k) {
            size_t in_piece = 3;
            for (size_t i = 0; i < lengths.size(); ++i)
                for (int64_t t = offsets[i] + 1; t < offsets[i + 1]; ++t) {
                    if (pair_kind[t] != k) continue;
                    if (in_piece == 3) {
                        piece_start.push_back(static_cast<int64_t>(steps.size()));
                        piece_kind.push_back(static_cast<int32_t>(k));
                        in_piece = 0;
                    }
                    steps.push_back(static_cast<int32_t>(t));
                    ++in_piece;
                }
        }
        piece_start.push_back(static_cast<int64_t>(steps.size()));
        std::uniform_real_distribution<double> score(-spread, spread), positive(0.1, 2.0);
        if (weighted)
            for (size_t i = 0; i < lengths.size(); ++i) weight.push_back(i == 1 ? 0.0 : positive(random));
        for (int64_t i = 0; i < offsets.back() * labels; ++i) node.push_back(score(random));
        for (int64_t i = 0; i < kinds * labels * labels; ++i) pair.push_back(score(random));
    }

    // Every second token has a row of single pairs; some matrices are left to no step at all.
    void add_singles(int rows, double spread, std::mt19937& random) {
        std::uniform_real_distribution<double> score(-spread, spread);
        single_start.push_back(0);
        for (int r = 0; r < rows; ++r) {
            row_kind.push_back(static_cast<int32_t>(random() % (n_kinds + 1)) - 1);
            for (int32_t x = 0; x < n_labels; ++x)
                for (int32_t y = 0; y < n_labels; ++y)
                    if (random() % 3 == 0) {
                        single.push_back(pair_of(x, y));
                        single_score.push_back(score(random));
                    }
            single_start.push_back(static_cast<int64_t>(single.size()));
        }
        for (int64_t t = 0; t < n_tokens(); ++t) {
            row.push_back(random() % 2 ? static_cast<int32_t>(random() % rows) : -1);
            if (row.back() >= 0) pair_kind[t] = row_kind[row.back()];
        }
        for (int r = 0; r < rows; ++r) {
            row_start.push_back(static_cast<int64_t>(row_steps.size()));
            for (int64_t i = 0; i < n_sequences(); ++i)
                for (int64_t t = offsets[i] + 1; t < offsets[i + 1]; ++t)
                    if (row[t] == r) row_steps.push_back(static_cast<int32_t>(t));
        }
        row_start.push_back(static_cast<int64_t>(row_steps.size()));
    }

    double pair_score(int64_t t, int32_t x, int32_t y) const {
        const int64_t kind = pair_kind[t], at = shape().find(shape().row_of(t), pair_of(x, y));
        return (kind < 0 ? 0.0 : pair[(kind * n_labels + x) * n_labels + y]) + (at < 0 ? 0.0 : single_score[at]);
    }
    // Adds to the sums by kind and by row.
    void add_pair(int64_t t, int32_t x, int32_t y, double value, std::vector<double>& pairs,
                  std::vector<double>& singles) const {
        const int64_t kind = pair_kind[t], at = shape().find(shape().row_of(t), pair_of(x, y));
        if (kind >= 0) pairs[(kind * n_labels + x) * n_labels + y] += value;
        if (at >= 0) singles[at] += value;
    }
    PartScores scores() const { return {node.data(), pair.data(), single_score.data()}; }

    int64_t n_sequences() const { return static_cast<int64_t>(offsets.size()) - 1; }
    int64_t n_tokens() const { return offsets.back(); }
    ChainShape shape() const {
        return {
            .n_sequences = n_sequences(),
            .offsets = offsets.data(),
            .n_labels = n_labels,
            .n_kinds = n_kinds,
            .pair_kind = pair_kind.data(),
            .weight = weight.empty() ? nullptr : weight.data(),
            .n_pieces = static_cast<int64_t>(piece_kind.size()),
            .piece_start = piece_start.data(),
            .piece_kind = piece_kind.data(),
            .steps = steps.data(),
            .n_rows = static_cast<int64_t>(row_kind.size()),
            .row = row.empty() ? nullptr : row.data(),
            .row_kind = row_kind.data(),
            .single_start = single_start.data(),
            .single = single.data(),
            .row_start = row_start.data(),
            .row_steps = row_steps.data(),
        };
    }

    double score(int64_t i, const std::vector<int32_t>& y) const {
        double sum = 0;
        for (size_t t = 0; t < y.size(); ++t) {
            const int64_t at = offsets[i] + static_cast<int64_t>(t);
            sum += node[at * n_labels + y[t]];
            if (t) sum += pair_score(at, y[t - 1], y[t]);
        }
        return sum;
    }

    // Every output of a sequence with its score, best first; only those that are possible.
    std::vector<std::pair<double, std::vector<int32_t>>> outputs(int64_t i) const {
        std::vector<std::pair<double, std::vector<int32_t>>> all;
        std::vector<int32_t> y(offsets[i + 1] - offsets[i], 0);
        for (;;) {
            if (const double s = score(i, y); s > -infinity) all.emplace_back(s, y);
            size_t t = 0;
            while (t < y.size() && ++y[t] == n_labels) y[t++] = 0;
            if (t == y.size()) break;
        }
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        return all;
    }
};

struct Marginals {
    std::vector<double> log_z, node, pair, single;
    bool feasible = true;
};

Marginals enumerated(const Chains& c) {
    Marginals m{std::vector<double>(c.n_sequences()), std::vector<double>(c.node.size()),
                std::vector<double>(c.pair.size()), std::vector<double>(c.single.size())};
    const int64_t Y = c.n_labels;
    for (int64_t i = 0; i < c.n_sequences(); ++i) {
        const auto outputs = c.outputs(i);
        if (outputs.empty()) {
            m.feasible = false;
            continue;
        }
        double z = 0;
        for (const auto& [s, y] : outputs) z += std::exp(s - outputs[0].first);
        m.log_z[i] = outputs[0].first + std::log(z);
        for (const auto& [s, y] : outputs) {
            const double p = std::exp(s - m.log_z[i]) * (c.weight.empty() ? 1.0 : c.weight[i]);
            for (size_t t = 0; t < y.size(); ++t) {
                const int64_t at = c.offsets[i] + static_cast<int64_t>(t);
                m.node[at * Y + y[t]] += p;
                if (t) c.add_pair(at, y[t - 1], y[t], p, m.pair, m.single);
            }
        }
    }
    return m;
}

Marginals computed(const Kernels& table, const Chains& c, int threads, bool in_place = false) {
    const auto scratch = c.n_tokens() * padded(c.n_labels);
    std::vector<double> left(scratch), right(scratch);
    Marginals m{std::vector<double>(c.n_sequences()), c.node, std::vector<double>(c.pair.size(), 77.0),
                std::vector<double>(c.single.size(), 77.0)};
    PartScores scores = c.scores();
    if (in_place) scores.node = m.node.data();
    m.feasible =
        table.chain_marginals(c.shape(), scores, m.log_z.data(), {m.node.data(), m.pair.data(), m.single.data()},
                              left.data(), right.data(), nullptr, threads);
    return m;
}

void check_equal(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
    CHECK(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK_NEAR(a[i], b[i], tolerance);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

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

const std::vector<int64_t> ragged{4, 3, 0, 1, 2, 0, 5, 1};

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
        check_best(c, 3);
    }
}

TEST("the best and the k best outputs, with fewer than k where there are fewer") {
    for (const int32_t labels : {1, 2, 3}) {
        check_best(Chains(ragged, labels, 2, 3.0, 20 + labels), 1);
        check_best(Chains(ragged, labels, 2, 3.0, 30 + labels), 7);
    }
}

TEST("single pairs, with a matrix and without") {
    for (const bool weighted : {false, true})
        for (const int64_t kinds : {0, 1, 3})
            for (const int32_t labels : {1, 2, 3, 5}) {
                const Chains c({4, 3, 0, 1, 2, 0, 4, 1}, labels, kinds, 3.0, 100 + labels, weighted, 3);
                check_marginals(c);
                check_best(c, 3);
            }
    for (const int32_t labels : {9, 17, 33, 39}) {
        const Chains c({2, 1, 2, 2}, labels, 2, 2.0, labels, false, 2);
        check_marginals(c);
        check_best(c, 3);
    }
}

TEST("single pairs that take away all that their matrix has, and ones too far apart for scaled sums") {
    for (const double times : {12.0, 60.0, 400.0}) {
        Chains c(ragged, 3, 1, 2.0, 61, true, 3);
        for (double& x : c.single_score) x *= times;
        check_marginals(c, 1e-9);
        check_best(c, 2);
    }
}

TEST("scores too far apart for scaled sums are summed in logs, next to sequences that are not") {
    for (const bool weighted : {false, true}) {
        Chains c(ragged, 3, 2, 2.0, 41, weighted);
        for (size_t i = 0; i < c.node.size() / 2; ++i) c.node[i] *= 400;
        check_marginals(c, 1e-10);
        check_best(c, 2);
        for (double& x : c.pair) x *= 400;
        check_marginals(c, 1e-9);
    }
}

TEST("forbidden labels and pairs") {
    Chains c(ragged, 3, 2, 2.0, 43);
    c.pair[1] = c.pair[5] = c.pair[9] = -infinity;
    c.node[0] = c.node[4] = c.node[6 * 3 + 1] = -infinity;
    check_marginals(c);
    check_best(c, 4);
    for (size_t i = 0; i < c.node.size(); ++i) c.node[i] *= 100;  // beyond what is safe with forbidden pairs
    check_marginals(c, 1e-10);
    check_best(c, 4);
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

TEST("variances of parts: those of one label, and of a pair as if its labels were independent") {
    for (const bool weighted : {false, true}) {
        const Chains c(ragged, 3, 2, 1.0, 52, weighted, 3);
        const Marginals m = enumerated(c);
        std::vector<double> node(c.node.size()), pair(c.pair.size()), single(c.single.size());
        for (int64_t i = 0; i < c.n_sequences(); ++i)
            for (int64_t t = c.offsets[i]; t < c.offsets[i + 1]; ++t)
                for (int64_t y = 0; y < 3; ++y) {
                    const double weight = weighted ? c.weight[i] : 1.0;
                    if (weight == 0) continue;
                    const double p = m.node[t * 3 + y] / weight;
                    node[t * 3 + y] = weight * p * (1 - p);
                    for (int64_t x = 0; x < 3 && t > c.offsets[i]; ++x) {
                        const double both = p * m.node[(t - 1) * 3 + x] / weight;
                        c.add_pair(t, static_cast<int32_t>(x), static_cast<int32_t>(y), weight * both * (1 - both),
                                   pair, single);
                    }
                }
        for (const Kernels* table : {&baseline_kernels(), &kernels()})
            for (const int threads : {1, 2}) {
                std::vector<double> node_out(node.size(), 7.0), pair_out(pair.size(), 7.0),
                    single_out(single.size(), 7.0);
                table->chain_variances(c.shape(), m.node.data(), {node_out.data(), pair_out.data(), single_out.data()},
                                       threads);
                check_equal(node_out, node, 1e-12);
                check_equal(pair_out, pair, 1e-12);
                check_equal(single_out, single, 1e-12);
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

TEST("no sequences at all") {
    const Chains c({}, 3, 1, 1.0, 50);
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        CHECK(computed(*table, c, 2).feasible);
        CHECK(table->chain_argmax(c.shape(), c.scores(), nullptr, nullptr, 2));
        table->chain_kbest(c.shape(), c.scores(), 2, nullptr, nullptr, 2);
        CHECK(table->chain_sample(c.shape(), c.scores(), 1, 1, nullptr, 2));
    }
}

TEST("exponentials and inner products") {
    std::mt19937 random(51);
    std::vector<double> x{0.0, -0.0, 1.0, -1.0, 700.0, -700.0, -708.5, -1e9, -infinity};
    for (int i = 0; i < 2000; ++i) x.push_back(std::uniform_real_distribution<double>(-700, 700)(random));
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<double> out = x;
        table->exponentials(out.data(), static_cast<int64_t>(out.size()));
        for (size_t i = 0; i < x.size(); ++i) {
            if (x[i] < -708) CHECK(out[i] == 0);
            else CHECK(std::abs(out[i] - std::exp(x[i])) <= 4e-16 * std::exp(x[i]));
        }
        for (const int64_t n : {0, 1, 15, 16, 17, 100}) {
            std::vector<double> a(n), b(n);
            std::iota(a.begin(), a.end(), 1.0);
            std::iota(b.begin(), b.end(), -3.0);
            CHECK(table->dot(a.data(), b.data(), n) == std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
        }
        CHECK(table->name != nullptr && table->name[0]);
    }
}
