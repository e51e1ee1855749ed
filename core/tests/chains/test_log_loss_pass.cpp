// One pass over batches against each batch by itself; and the same bits for any number of threads.
#include <memory>
#include <random>
#include <vector>

#include "chains/log_loss_pass.hpp"
#include "tests/chains/random_chains.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;
using namespace check;

namespace {

std::shared_ptr<const FeatureRows> features_of(int64_t n_attributes, int64_t width, bool all, std::mt19937& random) {
    auto out = std::make_shared<FeatureRows>();
    out->n_attributes = n_attributes;
    out->width = width;
    out->all = all;
    out->start.push_back(0);
    for (int64_t a = 0; a < n_attributes && !all; ++a) {
        for (int32_t c = 0; c < width; ++c)
            if (random() % (a % 3 ? 2 : 8) == 0) out->column.push_back(c);
        out->start.push_back(static_cast<int64_t>(out->column.size()));
    }
    return out;
}

// Batches of chains with weights, matrices and single pairs, and maps with the same features.
struct Batches {
    static constexpr int32_t Y = 5;
    std::vector<std::unique_ptr<Chains>> chains;
    std::vector<std::unique_ptr<LinearMap>> maps;
    std::vector<std::vector<int32_t>> gold;
    std::vector<LossBatch> given;

    Batches(int n, bool all, bool singles, std::mt19937& random) {
        const auto node = features_of(9, Y, all, random), pair = features_of(4, Y * Y, all, random);
        auto of_singles = std::make_shared<FeatureRows>();
        of_singles->width = 1;
        of_singles->n_attributes = pair->size();
        for (int b = 0; b < n; ++b) {
            chains.push_back(std::make_unique<Chains>(std::vector<int64_t>{b % 4, 3, 0, 2 + b % 3}, Y, 1 + b % 2, 2.0,
                                                      90 + b, b % 2 == 0, singles ? 2 : 0));
            const Chains& c = *chains.back();
            const int64_t T = c.n_tokens();
            const auto map = [&](Csr rows, std::shared_ptr<const FeatureRows> features) {
                maps.push_back(std::make_unique<LinearMap>(std::move(rows), std::move(features)));
                maps.back()->attributes();
                return maps.back().get();
            };
            const LinearMap* of_nodes = map(random_rows(random, T, 9, b % 2 == 1), node);
            const LinearMap* of_pairs = map(random_rows(random, c.n_kinds, 4, false), pair);
            const LinearMap* of_single =
                map(random_rows(random, c.shape().n_singles(), static_cast<int32_t>(pair->size()), false), of_singles);
            gold.emplace_back(T);
            for (int32_t& y : gold.back()) y = static_cast<int32_t>(random() % Y);
            given.push_back({of_nodes, of_pairs, of_single, c.shape(), gold.back().data()});
        }
    }
};

struct Found {
    std::vector<double> loss, log_z, gradient, curvature, diagonal;
    std::vector<std::vector<double>> marginals;

    Found(LogLossPass& pass, const std::vector<double>& w, int threads) {
        const auto n = static_cast<size_t>(pass.n_features());
        gradient.resize(n), curvature.resize(n), diagonal.resize(n), loss.resize(pass.batches().size());
        LossSums out{loss.data(), {}, {}, gradient.data(), curvature.data()};
        int64_t sequences = 0;
        for (const LossBatch& batch : pass.batches()) sequences += batch.shape.n_sequences;
        log_z.resize(sequences);
        int64_t at = 0;
        for (const LossBatch& batch : pass.batches()) {
            out.log_z.push_back(log_z.data() + at);
            at += batch.shape.n_sequences;
            marginals.emplace_back(batch.n_tokens() * batch.shape.n_labels);
        }
        std::vector<const double*> given;
        for (auto& each : marginals) {
            out.marginals.push_back(each.data());
            given.push_back(each.data());
        }
        CHECK(pass.evaluate(w.data(), out, threads) == -1);
        pass.diagonal(given, diagonal.data(), threads);
    }
};

}  // namespace

TEST("a pass over batches is the sum of what each has by itself") {
    std::mt19937 random(90);
    for (const bool all : {true, false})
        for (const bool singles : {true, false}) {
            const Batches batches(21, all, singles, random);
            LogLossPass pass(batches.given);
            std::vector<double> w(pass.n_features());
            for (double& x : w) x = random() % 3 ? std::uniform_real_distribution<double>(-1, 1)(random) : 0.0;
            const Found found(pass, w, 1);
            std::vector<double> gradient(w.size(), 0.0), curvature(w.size(), 0.0), limited(w.size(), 0.0);
            int64_t first = 0;
            const int64_t cut = batches.given[0].node->features().size();
            for (size_t b = 0; b < batches.given.size(); ++b) {
                const LossBatch& batch = batches.given[b];
                const ChainShape& shape = batch.shape;
                const int64_t Y = shape.n_labels, T = batch.n_tokens();
                std::vector<double> node(T * Y), pair(shape.n_kinds * Y * Y), single(shape.n_singles()),
                    pair_sums(pair.size()), single_sums(single.size()), log_z(shape.n_sequences),
                    score(shape.n_sequences), left(T * padded(Y)), right(T * padded(Y));
                kernels().scores(*batch.node, w.data(), node.data(), 1);
                kernels().scores(*batch.pair, w.data() + cut, pair.data(), 1);
                if (shape.n_singles()) kernels().scores(*batch.single, w.data() + cut, single.data(), 1);
                const PartScores scores{node.data(), pair.data(), single.data()};
                kernels().chain_score(shape, scores, batch.gold, score.data(), 1);
                const PartSums sums{node.data(), pair_sums.data(), single_sums.data()};
                CHECK(kernels().chain_marginals(shape, scores, log_z.data(), sums, left.data(), right.data(), nullptr,
                                                1));
                double loss = 0;
                for (int64_t i = 0; i < shape.n_sequences; ++i) {
                    loss += (shape.weight ? shape.weight[i] : 1.0) * (log_z[i] - score[i]);
                    CHECK_NEAR(found.log_z[first + i], log_z[i], 1e-12);
                }
                CHECK_NEAR(found.loss[b], loss, 1e-12);
                for (int64_t i = 0; i < T * Y; ++i) CHECK_NEAR(found.marginals[b][i], node[i], 1e-12);
                std::vector<double> bent(T * Y), bent_pair(pair.size()), bent_single(single.size());
                const PartSums variances{bent.data(), bent_pair.data(), bent_single.data()};
                kernels().chain_variances(shape, node.data(), variances, 1);
                std::vector<double> seen(T * Y), most(pair.size()), most_single(single.size());
                kernels().chain_add(shape, batch.gold, 1.0, {seen.data(), most.data(), most_single.data()});
                for (size_t i = 0; i < most.size(); ++i)
                    most[i] = std::min(bent_pair[i], std::max(most[i], pair_sums[i]));
                for (size_t i = 0; i < most_single.size(); ++i)
                    most_single[i] = std::min(bent_single[i], std::max(most_single[i], single_sums[i]));
                kernels().pullback(*batch.node, bent.data(), limited.data(), true, 1);
                kernels().pullback(*batch.pair, most.data(), limited.data() + cut, true, 1);
                if (shape.n_singles())
                    kernels().pullback(*batch.single, most_single.data(), limited.data() + cut, true, 1);
                kernels().chain_add(shape, batch.gold, -1.0, sums);
                for (const bool squared : {false, true}) {
                    const PartSums& from = squared ? variances : sums;
                    double* to = squared ? curvature.data() : gradient.data();
                    kernels().pullback(*batch.node, from.node, to, squared, 1);
                    kernels().pullback(*batch.pair, from.pair, to + cut, squared, 1);
                    if (shape.n_singles()) kernels().pullback(*batch.single, from.single, to + cut, squared, 1);
                }
                first += shape.n_sequences;
            }
            for (size_t k = 0; k < w.size(); ++k) {
                CHECK_NEAR(found.gradient[k], gradient[k], 1e-11);
                CHECK_NEAR(found.curvature[k], limited[k], 1e-11);
                CHECK_NEAR(found.diagonal[k], curvature[k], 1e-11);
            }
            CHECK(limited != curvature);
        }
}

TEST("a pass over batches has the same bits for any number of threads, and when it is done again") {
    std::mt19937 random(91);
    for (const int n : {1, 3, 40}) {
        const Batches batches(n, false, true, random);
        LogLossPass pass(batches.given);
        std::vector<double> w(pass.n_features());
        for (double& x : w) x = std::uniform_real_distribution<double>(-1, 1)(random);
        const Found one(pass, w, 1);
        for (const int threads : {1, 2, 4, 7, 40}) {
            const Found many(pass, w, threads);
            CHECK(one.loss == many.loss && one.log_z == many.log_z && one.gradient == many.gradient);
            CHECK(one.curvature == many.curvature && one.diagonal == many.diagonal);
            CHECK(one.marginals == many.marginals);
        }
    }
}

TEST("a pass says which batch has a sequence without an output, and no batches are no features") {
    std::mt19937 random(92);
    const Batches batches(5, true, false, random);
    LogLossPass pass(batches.given);
    std::vector<double> w(pass.n_features(), std::numeric_limits<double>::quiet_NaN()), gradient(w.size()), loss(5),
        log_z(100);
    LossSums out{loss.data(), std::vector<double*>(5, log_z.data()), {}, gradient.data(), nullptr};
    CHECK(pass.evaluate(w.data(), out, 1) >= 0);
    LogLossPass nothing({});
    CHECK(nothing.n_features() == 0);
    CHECK(nothing.evaluate(nullptr, {nullptr, {}, {}, nullptr, nullptr}, 2) == -1);
}
