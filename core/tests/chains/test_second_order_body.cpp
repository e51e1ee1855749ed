// Second-order chains against the enumeration of all taggings, in both builds of the kernels.
#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "chains/second_order_shape.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

using namespace parsimon;
using namespace check;

namespace {

struct Batch {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> kind;
    std::vector<double> weight, node, triple;
    int64_t n_kinds;
    bool tags, paired;
    TagPairs pairs;

    static TagPairs some_pairs(int32_t n_tags, uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<int32_t> before, tag;
        for (int32_t b = -1; b < n_tags; ++b)
            for (int32_t t = 0; t < n_tags; ++t)
                if (t == 0 || random() % 3) before.push_back(b), tag.push_back(t);
        return TagPairs(std::move(before), std::move(tag), n_tags);
    }

    Batch(const std::vector<int64_t>& lengths, int32_t n_tags, int64_t n_kinds, double spread, uint32_t seed, bool tags,
          bool paired)
        : n_kinds(n_kinds), tags(tags), paired(paired), pairs(some_pairs(n_tags, seed)) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> score(-spread, spread), positive(0.1, 2.0);
        for (const int64_t n : lengths) {
            offsets.push_back(offsets.back() + n);
            weight.push_back(positive(random));
        }
        for (int64_t t = 0; t < offsets.back(); ++t) kind.push_back(static_cast<int32_t>(random() % n_kinds));
        for (int64_t i = 0; i < offsets.back() * shape().width(); ++i) node.push_back(score(random));
        for (int64_t i = 0; i < n_kinds * pairs.n_triples; ++i) triple.push_back(score(random));
    }

    SecondOrderShape shape() const {
        return {pairs,          tags,    paired,      static_cast<int64_t>(weight.size()),
                offsets.data(), n_kinds, kind.data(), weight.data()};
    }
    SecondOrderScores scores() const { return {node.data(), triple.data()}; }

    // Calls body(tags, score) for every tagging of a sequence that is possible; `tags` has all tokens of the batch.
    template <class Body>
    void each(int64_t i, Body&& body) const {
        std::vector<int32_t> y(offsets.back(), 0);
        for (;;) {
            double sum = 0;
            const bool there = shape().each_part(i, y.data(), [&](int64_t t, int32_t pair, int64_t at) {
                sum += shape().pair_score(node.data() + t * shape().width(), pair);
                if (at >= 0) sum += triple[kind[t] * pairs.n_triples + at];
            });
            if (there) body(y, sum);
            int64_t t = offsets[i];
            while (t < offsets[i + 1] && ++y[t] == pairs.n_tags) y[t++] = 0;
            if (t == offsets[i + 1]) break;
        }
    }
};

void check_all(const Batch& batch, double tolerance) {
    const SecondOrderShape shape = batch.shape();
    const int64_t N = shape.n_sequences, T = batch.offsets.back(), W = shape.width();
    std::vector<double> log_z(N), best(N, -infinity), node(T * W), triple(batch.triple.size());
    for (int64_t i = 0; i < N; ++i) {
        batch.each(i, [&](const auto&, double s) { best[i] = std::max(best[i], s); });
        double sum = 0;
        batch.each(i, [&](const auto&, double s) { sum += std::exp(s - best[i]); });
        log_z[i] = best[i] + std::log(sum);
        batch.each(i, [&](const auto& y, double s) {
            const double p = batch.weight[i] * std::exp(s - log_z[i]);
            shape.each_part(i, y.data(), [&](int64_t t, int32_t pair, int64_t at) {
                if (batch.tags) node[t * W + batch.pairs.tag[pair]] += p;
                if (batch.paired) node[t * W + shape.first_pair_column() + pair] += p;
                if (at >= 0) triple[batch.kind[t] * batch.pairs.n_triples + at] += p;
            });
        });
    }
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        std::vector<std::vector<double>> bits;
        for (const int threads : {1, 3}) {
            std::vector<double> z(N), node_out = batch.node, triple_out(triple.size()), found(N), values(2 * N);
            std::vector<int32_t> y(T), lists(2 * T);
            const SecondOrderScores in_place{node_out.data(), batch.triple.data()};
            CHECK(table->second_order_argmax(shape, batch.scores(), found.data(), y.data(), threads));
            table->second_order_kbest(shape, batch.scores(), 2, values.data(), lists.data(), threads);
            for (int64_t i = 0; i < N; ++i) {
                CHECK_NEAR(found[i], best[i], 1e-12);
                CHECK_NEAR(values[i], best[i], 1e-12);
                CHECK(values[N + i] <= values[i]);
            }
            table->second_order_score(shape, batch.scores(), y.data(), found.data());
            for (int64_t i = 0; i < N; ++i) CHECK_NEAR(found[i], best[i], 1e-12);
            CHECK(table->second_order_marginals(shape, in_place, z.data(), {node_out.data(), triple_out.data()},
                                                threads));
            for (int64_t i = 0; i < N; ++i) CHECK_NEAR(z[i], log_z[i], tolerance);
            for (size_t i = 0; i < node.size(); ++i) CHECK_NEAR(node_out[i], node[i], tolerance);
            for (size_t i = 0; i < triple.size(); ++i) CHECK_NEAR(triple_out[i], triple[i], tolerance);
            CHECK(table->second_order_add(shape, y.data(), -1.0, {node_out.data(), triple_out.data()}));
            bits.push_back(node_out);
            bits.back().insert(bits.back().end(), triple_out.begin(), triple_out.end());
            std::vector<double> variance(node.size()), of_triples(triple.size());
            table->second_order_variances(shape, node.data(), {variance.data(), of_triples.data()}, threads);
            bits.back().insert(bits.back().end(), of_triples.begin(), of_triples.end());
        }
        CHECK(std::memcmp(bits[0].data(), bits[1].data(), bits[0].size() * sizeof(double)) == 0);
    }
}

}  // namespace

TEST("second order: marginals, the best and sums over triples are those of all taggings") {
    for (const auto& [tags, paired] : {std::pair(true, true), std::pair(true, false), std::pair(false, true)})
        for (const int32_t n_tags : {1, 2, 3, 5})
            for (const int64_t kinds : {1, 2, 20})
                check_all(Batch({3, 0, 1, 4, 2}, n_tags, kinds, 3.0, 7 * n_tags + 1, tags, paired), 1e-11);
}

TEST("second order: scores that are too far apart for scaled sums") {
    for (const double spread : {60.0, 400.0, 3000.0}) check_all(Batch({4, 3}, 3, 2, spread, 11, true, true), 1e-9);
}

TEST("second order: every width of the vector loops") {
    for (const int32_t n_tags : {6, 9, 13, 21, 38}) check_all(Batch({3, 2}, n_tags, 1, 2.0, 5, true, false), 1e-11);
}

TEST("second order: pairs that are not there have no score, and sequences without a tagging are told of") {
    const TagPairs pairs({-1, 0, 1}, {0, 1, 1}, 2);
    const std::vector<int64_t> offsets{0, 2};
    const std::vector<int32_t> kind{0, 0}, wrong{0, 0};
    const SecondOrderShape shape{pairs, true, false, 1, offsets.data(), 1, kind.data(), nullptr};
    std::vector<double> node{0, 0, 0, -infinity}, triple(pairs.n_triples), out(1), sums(4), of_triples(triple.size());
    std::vector<int32_t> tags(2);
    const SecondOrderScores scores{node.data(), triple.data()};
    CHECK(pairs.n_triples == 3);
    kernels().second_order_score(shape, scores, wrong.data(), out.data());
    CHECK(out[0] == -infinity);
    CHECK(!kernels().second_order_add(shape, wrong.data(), 1.0, {sums.data(), of_triples.data()}));
    CHECK(!kernels().second_order_argmax(shape, scores, out.data(), tags.data(), 1));
    CHECK(!kernels().second_order_sample(shape, scores, 1, 1, tags.data(), 1));
    CHECK(!kernels().second_order_marginals(shape, scores, out.data(), {sums.data(), of_triples.data()}, 1));
}
