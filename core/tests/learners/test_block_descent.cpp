// Block coordinate descent against the enumeration of all outputs: single steps, and the optimum.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "learners/block_descent.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

constexpr int64_t Y = 3;

struct Gradient {
    std::vector<double> g, h;  // of all features
    double value = 0;          // Σ weight (log Z − score of gold)
};

// Sequences in two batches. Attributes of steps 0 and 1 fire together with those of tokens; 2 and 3 are their own.
struct Problem {
    static constexpr int64_t n_node = 5, n_pair = 4;
    struct Batch {
        Csr node, pair;  // a row a token
        std::vector<int64_t> offsets{0};
        std::vector<int32_t> gold;
        std::vector<double> weight;
    };
    std::vector<Batch> batches;
    std::shared_ptr<FeatureRows> node = std::make_shared<FeatureRows>(), pair = std::make_shared<FeatureRows>();

    // `few`: how many sequences a batch has.
    Problem(int64_t few, bool valued, bool some, unsigned seed) {
        std::mt19937 random(seed);
        node->width = Y;
        node->n_attributes = n_node;
        pair->width = Y * Y;
        pair->n_attributes = n_pair;
        if (some) {  // not every attribute has every pair
            pair->all = false;
            pair->start.push_back(0);
            for (int64_t a = 0; a < n_pair; ++a) {
                for (int32_t c = 0; c < Y * Y; ++c)
                    if ((c + a) % 3) pair->column.push_back(c);
                pair->start.push_back(static_cast<int64_t>(pair->column.size()));
            }
        }
        for (int b = 0; b < 2; ++b) {
            Batch& batch = batches.emplace_back();
            batch.node.start.push_back(0);
            batch.pair.start.push_back(0);
            for (int64_t i = 0; i < few; ++i) {
                for (auto n = 1 + random() % 4; n--;) add_token(batch, valued, random);
                batch.offsets.push_back(static_cast<int64_t>(batch.gold.size()));
                if (b) batch.weight.push_back(i == 1 ? 0.0 : 0.5 + static_cast<double>(random() % 3));
            }
        }
    }

    void add_token(Batch& batch, bool valued, std::mt19937& random) {
        const double values[] = {1.0, -0.5, 2.0};
        for (int32_t a = 0; a < n_node; ++a) {
            if (random() % 3 == 0 && a != 0) continue;
            const double value = valued ? values[random() % 3] : 1.0;
            add(batch.node, a, value, valued);
            if (a < 2) add(batch.pair, a, value, valued);
        }
        for (int32_t a = 2; a < n_pair; ++a)
            if (random() % 2) add(batch.pair, a, valued ? values[random() % 3] : 1.0, valued);
        batch.node.start.push_back(static_cast<int64_t>(batch.node.index.size()));
        batch.pair.start.push_back(static_cast<int64_t>(batch.pair.index.size()));
        batch.gold.push_back(static_cast<int32_t>(random() % Y));
    }
    static void add(Csr& rows, int32_t a, double value, bool valued) {
        rows.index.push_back(a);
        if (valued) rows.value.push_back(value);
    }

    int64_t n_features() const { return node->size() + pair->size(); }

    std::unique_ptr<BlockDescent> descent() const {
        auto out = std::make_unique<BlockDescent>(Y);
        for (const Batch& batch : batches) {
            auto [rows, which] = distinct_rows(batch.pair);
            std::vector<int64_t> row_start{0};
            std::vector<int32_t> row_steps;
            for (int64_t r = 0; r < rows.size(); ++r) {
                for (size_t i = 0; i + 1 < batch.offsets.size(); ++i)
                    for (int64_t t = batch.offsets[i] + 1; t < batch.offsets[i + 1]; ++t)
                        if (which[t] == r) row_steps.push_back(static_cast<int32_t>(t));
                row_start.push_back(static_cast<int64_t>(row_steps.size()));
            }
            const LinearMap nodes(batch.node, node), steps(rows, pair);
            nodes.attributes();
            steps.attributes();
            out->add({nodes, steps, which, batch.offsets, batch.gold, batch.weight, row_start, row_steps});
        }
        out->make_blocks();
        return out;
    }

    // body(feature, value) for the features of a token with this label, and of the step into it.
    template <class Body>
    void features(const Batch& batch, int64_t t, int64_t before, int64_t label, Body&& body) const {
        const auto each = [&](const Csr& rows, const FeatureRows& all, int64_t shift, int64_t column) {
            for (int64_t i = rows.start[t]; i < rows.start[t + 1]; ++i)
                if (const int64_t k = all.feature(rows.index[i], column); k >= 0)
                    body(shift + k, rows.value.empty() ? 1.0 : rows.value[i]);
        };
        each(batch.node, *node, 0, label);
        if (before >= 0) each(batch.pair, *pair, node->size(), before * Y + label);
    }

    double score(const std::vector<double>& w, const Batch& batch, int64_t at, const int32_t* y, int64_t length) const {
        double sum = 0;
        for (int64_t t = 0; t < length; ++t)
            features(batch, at + t, t ? y[t - 1] : -1, y[t], [&](int64_t k, double value) { sum += w[k] * value; });
        return sum;
    }

    // Of each firing, value · (P − [gold]) and value² P (1 − P), by enumeration.
    Gradient gradient(const std::vector<double>& w) const {
        Gradient out{std::vector<double>(n_features(), 0.0), std::vector<double>(n_features(), 0.0)};
        for (const Batch& batch : batches)
            for (size_t i = 0; i + 1 < batch.offsets.size(); ++i) {
                const int64_t at = batch.offsets[i], n = batch.offsets[i + 1] - at;
                const double weight = batch.weight.empty() ? 1.0 : batch.weight[i];
                std::vector<double> nodes(n * Y, 0.0), pairs(n * Y * Y, 0.0);
                double z = 0;
                for (int pass = 0; pass < 2; ++pass) {
                    std::vector<int32_t> y(n, 0);
                    for (int64_t t = 0; t < n;) {
                        const double p = std::exp(score(w, batch, at, y.data(), n));
                        if (pass == 0) z += p;
                        for (int64_t s = 0; s < n && pass == 1; ++s) {
                            nodes[s * Y + y[s]] += p / z;
                            if (s) pairs[(s * Y + y[s - 1]) * Y + y[s]] += p / z;
                        }
                        for (t = 0; t < n && ++y[t] == Y; ++t) y[t] = 0;
                    }
                }
                out.value += weight * (std::log(z) - score(w, batch, at, batch.gold.data() + at, n));
                for (int64_t t = 0; t < n; ++t) {
                    const int32_t gold = batch.gold[at + t];
                    for (int64_t x = t ? 0 : -1; x < (t ? Y : 0); ++x)
                        for (int64_t y = 0; y < Y; ++y)
                            features(batch, at + t, x, y, [&](int64_t k, double value) {
                                const bool of_node = k < node->size();
                                if (of_node && x > 0) return;  // once a token
                                const double p = of_node ? nodes[t * Y + y] : pairs[(t * Y + x) * Y + y];
                                const bool is_gold = y == gold && (of_node || x == batch.gold[at + t - 1]);
                                out.g[k] += weight * value * (p - is_gold);
                                out.h[k] += weight * value * value * p * (1 - p);
                            });
                }
            }
        return out;
    }
};

std::vector<double> weights_of(const BlockDescent& descent, int64_t n) {
    std::vector<int64_t> features;
    std::vector<double> values, out(n, 0.0);
    descent.collect(features, values);
    for (size_t i = 0; i < features.size(); ++i) {
        CHECK(values[i] != 0 && (!i || features[i] > features[i - 1]));
        out[features[i]] = values[i];
    }
    return out;
}

std::vector<int64_t> all_blocks(const BlockDescent& descent) {
    std::vector<int64_t> out(descent.n_blocks());
    for (size_t b = 0; b < out.size(); ++b) out[b] = static_cast<int64_t>(b);
    return out;
}

}  // namespace

TEST("attributes that fire on the same steps make one block, all others one each") {
    const Problem problem(6, true, false, 21);
    const auto descent = problem.descent();
    CHECK(descent->n_blocks() == Problem::n_node + Problem::n_pair - 2);
    CHECK(descent->active_blocks().empty());
}

TEST("one step of one block is the soft threshold of its gradient and curvature") {
    const double l1 = 0.4, l2 = 0.1, caution = 1.3;
    for (const int64_t sequences : {4, 40})  // blocks that fire rarely, and often
        for (const bool valued : {false, true})
            for (const bool some : {false, true}) {
                const Problem problem(sequences, valued, some, 22);
                std::vector<double> begin(problem.n_features(), 0.0);
                std::vector<int64_t> features;
                std::vector<double> values;
                for (int64_t k = 0; k < problem.n_features(); k += 3) {
                    features.push_back(k);
                    values.push_back(begin[k] = 0.02 * static_cast<double>(k % 7 - 3) + 0.01);
                }
                const Gradient at = problem.gradient(begin);
                const auto blocks = problem.descent()->n_blocks();
                std::vector<char> moved(problem.n_features(), 0);
                for (int64_t b = 0; b < blocks; ++b) {
                    const auto descent = problem.descent();
                    descent->start(features.data(), values.data(), static_cast<int64_t>(features.size()));
                    const BlockDescent::Report report = descent->sweep(&b, 1, l1, l2, caution, 2);
                    const std::vector<double> w = weights_of(*descent, problem.n_features());
                    double largest = 0;
                    for (int64_t k = 0; k < problem.n_features(); ++k) {
                        largest = std::max(largest, std::abs(w[k] - begin[k]));
                        if (w[k] == begin[k]) continue;
                        CHECK(!moved[k]);  // a feature is in one block
                        moved[k] = 1;
                        const double h = caution * at.h[k], z = h * begin[k] - at.g[k];
                        const double wanted = std::copysign(std::max(std::abs(z) - l1, 0.0), z) / (h + l2);
                        CHECK_NEAR(w[k], std::clamp(wanted, begin[k] - 1, begin[k] + 1), 1e-8);
                    }
                    CHECK_NEAR(report.largest, largest, 1e-12);
                    CHECK(report.changed == (largest > 0));
                }
                for (int64_t k = 0; k < problem.n_features(); ++k)  // who should move has moved
                    if (begin[k] == 0 && at.h[k] > 0) CHECK(moved[k] == (std::abs(at.g[k]) > l1));
            }
}

TEST("a descent says what it has been given, and whether its blocks are made") {
    const Problem problem(4, false, false, 23);
    const auto descent = problem.descent();
    CHECK(descent->has_blocks() && descent->n_batches() > 0);
    CHECK(descent->features(0) == *problem.node && descent->features(0) != descent->features(1));
    const BlockDescent empty(7);
    CHECK(!empty.has_blocks() && empty.n_batches() == 0 && empty.n_labels() == 7);
}

TEST("sweeps over all blocks end at the optimum of the elastic net, for any number of threads") {
    const double l1 = 0.5, l2 = 0.2;
    for (const int64_t sequences : {4, 20})
        for (const bool valued : {false, true}) {
            const Problem problem(sequences, valued, valued, 23);
            std::vector<double> found[2];
            for (const int threads : {1, 3}) {
                const auto descent = problem.descent();
                const std::vector<int64_t> blocks = all_blocks(*descent);
                for (int sweep = 0; sweep < 400; ++sweep)
                    if (descent->sweep(blocks.data(), static_cast<int64_t>(blocks.size()), l1, l2, 1.0, threads).largest
                        < 1e-10)
                        break;
                found[threads > 1] = weights_of(*descent, problem.n_features());
                CHECK(descent->active_blocks().size() > 2);
            }
            CHECK(found[0] == found[1]);
            const std::vector<double>& w = found[0];
            const Gradient at = problem.gradient(w);
            int64_t zeros = 0;
            for (int64_t k = 0; k < problem.n_features(); ++k) {
                zeros += w[k] == 0;
                if (w[k] == 0) CHECK(std::abs(at.g[k]) <= l1 + 1e-7);
                else CHECK_NEAR(at.g[k] + l2 * w[k], w[k] > 0 ? -l1 : l1, 1e-7);
            }
            CHECK(zeros > 0 && zeros < problem.n_features());
            // The gradient is the derivative of the loss that it says it is.
            std::vector<double> moved = w;
            for (const int64_t k : {int64_t{0}, problem.node->size() + 1}) {
                const double step = 1e-5;
                moved[k] = w[k] + step;
                const double above = problem.gradient(moved).value;
                moved[k] = w[k] - step;
                const double below = problem.gradient(moved).value;
                moved[k] = w[k];
                CHECK_NEAR((above - below) / (2 * step), at.g[k], 1e-6);
            }
        }
}

TEST("a block whose steps go to and fro becomes cautious, and bold again") {
    BlockCaution caution;
    const auto step = [](double value) {
        BlockStep out;
        out.cells[0] = {{0, value}};
        out.cells[1] = {{pair_of(1, 2), value}};
        out.largest = std::abs(value);
        return out;
    };
    caution.learn(4, BlockStep());  // has never moved
    CHECK(caution.of(4) == 1);
    caution.learn(4, step(1.0));
    CHECK(caution.of(4) == 1);
    caution.learn(4, step(-0.9));
    caution.learn(4, step(0.8));
    CHECK(caution.of(4) == 4 && caution.of(3) == 1);
    caution.learn(4, step(-0.1));  // so short that it does not matter
    CHECK(caution.of(4) == 4);
    caution.learn(4, step(-0.1));
    CHECK_NEAR(caution.of(4), 3.2, 1e-15);
}
