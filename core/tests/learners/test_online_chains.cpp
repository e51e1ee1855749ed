#include <map>
#include <memory>
#include <random>
#include <vector>

#include "learners/online_chains.hpp"
#include "tests/check.hpp"
#include "tests/learners/weights_as_map.hpp"

using namespace parsimon;
using namespace check;

namespace {

// Sequences with random attributes on tokens and steps, and random labels.
struct RandomChains {
    std::shared_ptr<FeatureRows> node, pair;
    Csr node_rows, pair_rows;
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> kind, gold;
    std::vector<int64_t> order;

    RandomChains(int32_t n_labels, int64_t n_sequences, bool real, unsigned seed)
        : node(all_columns(8, n_labels)), pair(all_columns(6, n_labels * n_labels)) {
        std::mt19937 random(seed);
        for (int64_t i = 0; i < n_sequences; ++i) {
            offsets.push_back(offsets.back() + static_cast<int64_t>(random() % 6));
            order.push_back(i);
        }
        const auto fill = [&](Csr& rows, int64_t n, int64_t n_attributes) {
            rows.start.push_back(0);
            for (int64_t r = 0; r < n; ++r) {
                for (auto j = random() % 4; j--;) {
                    rows.index.push_back(static_cast<int32_t>(random() % n_attributes));
                    if (real) rows.value.push_back(std::normal_distribution<double>()(random));
                }
                rows.start.push_back(static_cast<int64_t>(rows.index.size()));
            }
        };
        fill(node_rows, offsets.back(), node->n_attributes);
        fill(pair_rows, 9, pair->n_attributes);
        for (int64_t t = 0; t < offsets.back(); ++t) {
            kind.push_back(static_cast<int32_t>(random() % 9));
            gold.push_back(static_cast<int32_t>(random() % n_labels));
        }
    }

    template <class Learner>
    void teach(Learner& learner) const {
        learner.add({LinearMap(node_rows, node), LinearMap(pair_rows, pair), offsets, kind, gold, {}});
    }
};

void check_same(const std::map<int64_t, double>& a, const std::map<int64_t, double>& b, double tolerance) {
    for (const auto* each : {&a, &b})
        for (const auto& [feature, value] : *each)
            CHECK_NEAR(a.count(feature) ? a.at(feature) : 0.0, b.count(feature) ? b.at(feature) : 0.0, tolerance);
}

}  // namespace

TEST("single pairs and matrices teach the same") {
    for (const bool real : {false, true})
        for (const Oracle oracle : {Oracle::argmax, Oracle::cost_argmax, Oracle::marginals}) {
            const RandomChains chains(5, 40, real, 5);
            const std::vector<int32_t> block(8, 0);
            const auto exempt = std::make_unique<bool[]>(8);
            std::map<int64_t, double> online[3], summed[3];
            double loss[3];
            for (const PairForm form : {PairForm::by_cost, PairForm::matrices, PairForm::singles}) {
                const auto which = static_cast<size_t>(form);
                OnlineChain learner(ChainInstances(5, form),
                                    OnlineWeights(chains.node, chains.pair, block.data(), block.data(), 1));
                chains.teach(learner);
                for (int epoch = 0; epoch < 2; ++epoch)
                    loss[which] =
                        learner.run(chains.order.data(), 40, oracle, 1.0, StepSize{oracle == Oracle::cost_argmax, 0.5})
                            .loss;
                online[which] = as_map(learner.weights());
                SummedChain other(ChainInstances(5, form),
                                  SummedWeights(chains.node, chains.pair, exempt.get(), exempt.get()));
                chains.teach(other);
                other.weights().set_penalty(0.3, 0.01, 0.0);
                const std::vector<double> steps(40, 0.4);
                for (int epoch = 0; epoch < 2; ++epoch) other.run(chains.order.data(), 40, oracle, 1.0, steps.data());
                summed[which] = as_map(other.weights());
            }
            CHECK(!online[0].empty() && !summed[0].empty());
            for (const size_t which : {1, 2}) {
                CHECK_NEAR(loss[which], loss[0], 1e-5);
                check_same(online[which], online[0], 1e-5);  // differences below 1e-7 are left out
                check_same(summed[which], summed[0], 1e-9);
            }
        }
}

// Scores so far apart that probabilities are found in logs; and labels so many that pairs are single by themselves.
TEST("single pairs teach what they should when probabilities are in logs") {
    for (const int32_t n_labels : {4, 20}) {
        const RandomChains chains(n_labels, 12, false, 9);
        const auto exempt = std::make_unique<bool[]>(8);
        std::map<int64_t, double> found[2];
        for (const PairForm form : {PairForm::matrices, PairForm::singles}) {
            SummedChain learner(ChainInstances(n_labels, form),
                                SummedWeights(chains.node, chains.pair, exempt.get(), exempt.get()));
            chains.teach(learner);
            const int64_t features[] = {1, 3, 5, 8 * n_labels, 8 * n_labels + 1, 8 * n_labels + 7};
            const double values[] = {400.0, -500.0, 390.0, 350.0, -450.0, 250.0};
            learner.start(features, values, 6);
            learner.weights().set_penalty(0.3, 0.0, 0.0);
            const std::vector<double> steps(12, 1.0);
            learner.run(chains.order.data(), 12, Oracle::marginals, 0.0, steps.data());
            found[form == PairForm::singles] = as_map(learner.weights());
        }
        CHECK(found[0].size() > 20);
        check_same(found[0], found[1], 1e-9);
    }
}
