// The features that screening finds, against all gradients by the enumeration of all outputs, in both builds.
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "chains/chain_posterior.hpp"
#include "kernels/kernels.hpp"
#include "kernels/screening.hpp"
#include "tests/chains/random_chains.hpp"
#include "tests/chains/random_trees.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;
using namespace check;

namespace {

// A batch with what was found in it, and the gradient of every pair of labels at every step: Σ over terms and outputs.
struct Screened {
    LinearMap steps;
    std::vector<int64_t> row_start{0};
    std::vector<int32_t> row_steps, gold;
    std::vector<double> times;
    ChainPosterior posterior;
    std::vector<double> node;
    std::vector<double> step_gradient;  // [T][Y][Y]
    ScreenBatch batch;

    // `row`: of every token, −1 where there is no step.
    Screened(const ChainShape& shape, const PartScores& scores, const Csr& rows,
             std::shared_ptr<const FeatureRows> features, const std::vector<int32_t>& row,
             const std::vector<double>& pair_marginals, std::mt19937& random)
        : steps(rows, std::move(features)) {
        const int64_t Y = shape.n_labels, T = shape.offsets[shape.n_sequences];
        for (int64_t r = 0; r < rows.size(); ++r) {
            for (int64_t t = 0; t < T; ++t)
                if (row[t] == r) row_steps.push_back(static_cast<int32_t>(t));
            row_start.push_back(static_cast<int64_t>(row_steps.size()));
        }
        for (int64_t t = 0; t < T; ++t) {
            gold.push_back(static_cast<int32_t>(random() % Y));
            times.push_back(-1.0 - 0.25 * static_cast<double>(random() % 3));
        }
        std::vector<double> log_z(shape.n_sequences), pair(shape.n_kinds * Y * Y), single(shape.n_singles());
        node.resize(T * Y);
        CHECK(kernels().chain_marginals(shape, scores, log_z.data(), {node.data(), pair.data(), single.data()}, nullptr,
                                        nullptr, &posterior, 2));
        step_gradient.assign(T * Y * Y, 0.0);
        for (int64_t t = 0; t < T; ++t) {
            if (row[t] < 0) continue;
            for (int64_t c = 0; c < Y * Y; ++c) step_gradient[t * Y * Y + c] = 1.5 * pair_marginals[t * Y * Y + c];
            const int64_t before = shape.parent ? shape.parent[t] : t - 1;
            step_gradient[(t * Y + gold[before]) * Y + gold[t]] += times[t];
        }
        batch = {&steps,
                 row_start.data(),
                 row_steps.data(),
                 shape,
                 {{1.5, &posterior, node.data()}},
                 {{times.data(), gold.data()}}};
    }

    void add_to(std::vector<double>& gradient) const {
        const Csr& rows = steps.rows();
        const FeatureRows& features = steps.features();
        for (int64_t r = 0; r < rows.size(); ++r)
            for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
                for (int64_t s = row_start[r]; s < row_start[r + 1]; ++s)
                    for (int64_t c = 0; c < features.width; ++c)
                        if (const int64_t k = features.feature(rows.index[i], c); k >= 0)
                            gradient[k] += (rows.value.empty() ? 1.0 : rows.value[i])
                                           * step_gradient[row_steps[s] * features.width + c];
    }
};

std::shared_ptr<FeatureRows> some_features(int64_t n_attributes, int64_t width, bool all, std::mt19937& random) {
    auto out = std::make_shared<FeatureRows>();
    out->width = width;
    out->n_attributes = n_attributes;
    out->all = all;
    out->start.push_back(0);
    for (int64_t a = 0; a < n_attributes && !all; ++a) {
        for (int32_t c = 0; c < width; ++c)
            if (random() % 2) out->column.push_back(c);
        out->start.push_back(static_cast<int64_t>(out->column.size()));
    }
    return out;
}

// P(x, y) at every step of a chain, times the sequence's weight.
std::vector<double> step_marginals(const Chains& c) {
    const int64_t Y = c.n_labels;
    std::vector<double> out(c.n_tokens() * Y * Y, 0.0);
    for (int64_t i = 0; i < c.n_sequences(); ++i) {
        const auto outputs = c.outputs(i);
        double z = 0;
        for (const auto& [s, y] : outputs) z += std::exp(s - outputs[0].first);
        for (const auto& [s, y] : outputs)
            for (size_t t = 1; t < y.size(); ++t)
                out[((c.offsets[i] + static_cast<int64_t>(t)) * Y + y[t - 1]) * Y + y[t]] +=
                    std::exp(s - outputs[0].first) / z * (c.weight.empty() ? 1.0 : c.weight[i]);
    }
    return out;
}

void check_found(const std::vector<ScreenBatch>& batches, const std::vector<double>& gradient, double threshold) {
    for (const Kernels* table : {&baseline_kernels(), &kernels()})
        for (const int threads : {1, 3}) {
            std::vector<int64_t> found;
            std::vector<double> values;
            table->screen_pairs(batches, threshold, found, values, threads);
            CHECK(found.size() == values.size());
            size_t next = 0;
            for (int64_t k = 0; k < static_cast<int64_t>(gradient.size()); ++k) {
                const bool listed = next < found.size() && found[next] == k;
                if (listed) CHECK_NEAR(values[next++], gradient[k], 1e-9);
                if (std::abs(std::abs(gradient[k]) - threshold) > 1e-9)
                    CHECK(listed == (std::abs(gradient[k]) > threshold));
            }
            CHECK(next == found.size());
        }
}

}  // namespace

TEST("screening finds all features of label pairs with a large gradient, and no others") {
    std::mt19937 random(71);
    for (const int32_t labels : {2, 5})
        for (const double spread : {1.0, 4.0, 400.0})  // the last is summed in logs
            for (const bool valued : {false, true})
                for (const bool all : {true, false}) {
                    const int64_t n_attributes = 9;
                    const auto features = some_features(n_attributes, labels * labels, all, random);
                    std::vector<Chains> chains;
                    std::vector<std::unique_ptr<Screened>> screened;
                    std::vector<double> gradient(features->size(), 0.0);
                    for (unsigned b = 0; b < 2; ++b)
                        chains.emplace_back(std::vector<int64_t>{5, 1, 0, 4, 5, 3}, labels, b + 1, 1.0, 80 + b, b == 1,
                                            3);
                    for (Chains& c : chains) {
                        for (double& x : c.node) x *= spread;
                        Csr rows = random_rows(random, 4, n_attributes, valued);
                        std::vector<int32_t> row(c.n_tokens());
                        for (int32_t& r : row) r = static_cast<int32_t>(random() % 4);
                        for (int64_t i = 0; i < c.n_sequences(); ++i)
                            if (c.offsets[i] < c.offsets[i + 1]) row[c.offsets[i]] = -1;
                        screened.push_back(std::make_unique<Screened>(c.shape(), c.scores(), rows, features, row,
                                                                      step_marginals(c), random));
                        screened.back()->add_to(gradient);
                    }
                    for (const double threshold : {0.0, 0.3, 1.5, 100.0})
                        check_found({screened[0]->batch, screened[1]->batch}, gradient, threshold);
                }
}

TEST("screening attributes that fire often") {
    std::mt19937 random(72);
    const Chains c(std::vector<int64_t>(40, 4), 4, 2, 3.0, 90, false, 2);
    const auto features = some_features(2, 16, true, random);
    Csr rows;  // the first attribute is on every row
    rows.start = {0, 1, 3};
    rows.index = {0, 0, 1};
    std::vector<int32_t> row(c.n_tokens());
    for (int64_t t = 0; t < c.n_tokens(); ++t) row[t] = t % 4 == 0 ? -1 : static_cast<int32_t>(random() % 2);
    const Screened screened(c.shape(), c.scores(), rows, features, row, step_marginals(c), random);
    std::vector<double> gradient(features->size(), 0.0);
    screened.add_to(gradient);
    for (const double threshold : {0.0, 2.0, 10.0}) check_found({screened.batch}, gradient, threshold);
}

TEST("screening trees") {
    std::mt19937 random(73);
    for (const double spread : {2.0, 300.0}) {
        const RandomTree tree(6, 3, spread, 11);
        const int64_t Y = 3, T = 6;
        const auto outputs = tree.outputs();
        std::vector<double> marginals(T * Y * Y, 0.0);
        double z = 0;
        for (const auto& [s, y] : outputs) z += std::exp(s - outputs[0].first);
        std::vector<int32_t> row(T);
        for (int64_t t = 0; t < T; ++t) {
            row[t] = tree.parent[t] < 0 ? -1 : static_cast<int32_t>(random() % 3);
            for (const auto& [s, y] : outputs)
                if (tree.parent[t] >= 0)
                    marginals[(t * Y + y[tree.parent[t]]) * Y + y[t]] += std::exp(s - outputs[0].first) / z;
        }
        const auto features = some_features(5, Y * Y, true, random);
        const Screened screened(tree.shape(), tree.scores(), random_rows(random, 3, 5, false), features, row, marginals,
                                random);
        std::vector<double> gradient(features->size(), 0.0);
        screened.add_to(gradient);
        for (const double threshold : {0.0, 0.2, 1.0}) check_found({screened.batch}, gradient, threshold);
    }
}

TEST("screening features of labels is the pullback of both batches, cut off") {
    std::mt19937 random(74);
    std::normal_distribution<double> number;
    for (const bool all : {true, false})
        for (const int64_t width : {1, 3, 30}) {
            const auto features = some_features(7, width, all, random);
            const LinearMap first(random_rows(random, 20, 7, false), features),
                second(random_rows(random, 9, 7, true), features);
            std::vector<double> a(20 * width), b(9 * width), gradient(features->size(), 0.0);
            for (double& x : a) x = number(random);
            for (double& x : b) x = number(random);
            for (const auto& [map, parts] : {std::pair{&first, &a}, {&second, &b}}) {
                const Csr& rows = map->rows();
                for (int64_t r = 0; r < rows.size(); ++r)
                    for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
                        for (int64_t c = 0; c < width; ++c)
                            if (const int64_t k = features->feature(rows.index[i], c); k >= 0)
                                gradient[k] += (rows.value.empty() ? 1.0 : rows.value[i]) * (*parts)[r * width + c];
            }
            first.attributes();
            second.attributes();
            for (const double threshold : {0.0, 1.0, 3.0})
                for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
                    std::vector<int64_t> found, expected;
                    std::vector<double> values;
                    table->screen_nodes({{&first, a.data(), {}}, {&second, b.data(), {}}}, threshold, found, values, 2);
                    for (int64_t k = 0; k < features->size(); ++k)
                        if (std::abs(gradient[k]) > threshold + 1e-12) expected.push_back(k);
                    CHECK(found == expected);
                    for (size_t i = 0; i < found.size(); ++i) CHECK_NEAR(values[i], gradient[found[i]], 1e-10);
                }
        }
}
