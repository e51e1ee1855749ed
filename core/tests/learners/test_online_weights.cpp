#include "learners/online_chains.hpp"

#include <map>
#include <memory>
#include <random>

#include "tests/check.hpp"

using namespace parsimon;

namespace {

std::shared_ptr<FeatureRows> all_columns(int64_t n_attributes, int64_t width) {
    auto rows = std::make_shared<FeatureRows>();
    rows->n_attributes = n_attributes;
    rows->width = width;
    return rows;
}

OnlineWeights in_blocks(const std::vector<int32_t>& block, int64_t width, int64_t n_blocks) {
    static const std::vector<int32_t> nobody;
    return {all_columns(static_cast<int64_t>(block.size()), width), all_columns(0, width), block.data(), nobody.data(),
            n_blocks};
}

std::map<int64_t, double> as_map(OnlineWeights& weights, bool averaged = false) {
    std::vector<int64_t> features;
    std::vector<double> values;
    weights.collect(averaged, features, values);
    std::map<int64_t, double> out;
    for (size_t i = 0; i < features.size(); ++i) out[features[i]] = values[i];
    return out;
}

std::map<int64_t, double> as_map(SummedWeights& weights) {
    std::vector<int64_t> features;
    std::vector<double> values;
    weights.collect(features, values);
    std::map<int64_t, double> out;
    for (size_t i = 0; i < features.size(); ++i) {
        CHECK(values[i] != 0 && (!i || features[i] > features[i - 1]));
        out[features[i]] = values[i];
    }
    return out;
}

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

TEST("touched rows are found again, grow and are reused") {
    const std::vector<int32_t> block(10, 0);
    TouchedRows rows(all_columns(10, 50), block.data());
    bool fresh;
    for (uint32_t c = 0; c < 50; ++c)
        for (int64_t a = 0; a < 10; ++a)
            rows.touch(a, (c * 7) % 50, fresh)->value = static_cast<double>(a * 100 + (c * 7) % 50);
    CHECK(rows.n_entries() == 500);
    for (int64_t a = 0; a < 10; ++a)
        for (uint32_t c = 0; c < 50; ++c)
            CHECK(rows.touch(a, c, fresh)->value == static_cast<double>(a * 100 + c) && !fresh);
    rows.drop(3);
    CHECK(rows.n_entries() == 450 && rows.head(3).n == 0);
    rows.filter(4, [](const WeightEntry& e) { return e.column < 3; });
    CHECK(rows.head(4).n == 3 && rows.n_entries() == 403);
    for (uint32_t c = 0; c < 3; ++c) CHECK(rows.touch(4, c, fresh)->value == 400.0 + c);
    rows.filter(4, [](const WeightEntry&) { return false; });
    CHECK(rows.head(4).n == 0);
}

TEST("only features that exist are touched") {
    auto some = std::make_shared<FeatureRows>();
    some->n_attributes = 2;
    some->width = 5;
    some->all = false;
    some->start = {0, 2, 3};
    some->column = {1, 4, 0};
    const std::vector<int32_t> block(2, 0);
    TouchedRows rows(some, block.data());
    bool fresh;
    CHECK(rows.touch(0, 0, fresh) == nullptr);
    CHECK(rows.touch(0, 4, fresh) != nullptr);
    CHECK(rows.touch(1, 0, fresh) != nullptr);
    CHECK(rows.feature(0, 4) == 1 && rows.feature(1, 0) == 2 && rows.n_entries() == 2);
}

// Random updates, scales and pulls, next to a vector to which everything is done at once.
TEST("weights in blocks are those of a plain vector") {
    std::mt19937 random(7);
    const int64_t n_attributes = 12, width = 4, n_blocks = 3;
    std::vector<int32_t> block(n_attributes);
    for (auto& b : block) b = static_cast<int32_t>(random() % n_blocks);
    for (const bool rows_pulled : {false, true}) {
        OnlineWeights weights = in_blocks(block, width, n_blocks);
        std::vector<double> plain(n_attributes * width, 0.0), total(plain.size(), 0.0);
        const std::vector<char> every(n_blocks, 1);
        auto uniform = [&](double low, double high) {
            return std::uniform_real_distribution<double>(low, high)(random);
        };
        for (int round = 0; round < 400; ++round) {
            const auto a = static_cast<int64_t>(random() % n_attributes);
            const auto c = static_cast<uint32_t>(random() % width);
            const double change = uniform(-1, 1);
            weights.add(0, a, c, change);
            plain[a * width + c] += change;
            weights.next_round();
            for (size_t i = 0; i < plain.size(); ++i) total[i] += plain[i];
            if (round % 5 == 4) {
                std::vector<double> factor(n_blocks);
                for (double& f : factor) f = random() % 6 == 0 ? 0.0 : uniform(0.3, 1);
                if (round % 50 == 49) factor[0] = 1e-60;  // twice, and the scale is renewed
                weights.scale(factor.data());
                for (size_t i = 0; i < plain.size(); ++i) {
                    plain[i] *= factor[block[i / width]];
                    if (factor[block[i / width]] == 0) total[i] = 0;  // what was dropped is forgotten, its past too
                }
            }
            if (round % 7 == 6 && rows_pulled) {
                weights.pull_rows(0.2, every.data());
                for (int64_t row = 0; row < n_attributes; ++row) {
                    double norm = 0;
                    for (int64_t k = 0; k < width; ++k) norm += plain[row * width + k] * plain[row * width + k];
                    norm = std::sqrt(norm);
                    for (int64_t k = 0; k < width; ++k) plain[row * width + k] *= norm > 0.2 ? 1 - 0.2 / norm : 0;
                }
            }
            if (round % 11 == 10 && rows_pulled == false) {
                weights.pull_entries(0.1, every.data());
                for (double& x : plain) x = std::copysign(std::max(std::abs(x) - 0.1, 0.0), x);
            }
            if (round % 13 == 12) {
                auto found = as_map(weights);
                for (size_t i = 0; i < plain.size(); ++i)
                    CHECK_NEAR(found.count(static_cast<int64_t>(i)) ? found[static_cast<int64_t>(i)] : 0.0, plain[i],
                               1e-9);
                std::vector<double> squares(n_blocks, 0.0);
                for (size_t i = 0; i < plain.size(); ++i) squares[block[i / width]] += plain[i] * plain[i];
                const auto running = weights.running_norms(), norms = weights.norms();
                for (int64_t b = 0; b < n_blocks; ++b) {
                    CHECK_NEAR(norms[b], std::sqrt(squares[b]), 1e-9);
                    CHECK_NEAR(running[b], std::sqrt(squares[b]), 1e-6);
                }
            }
        }
    }
}

TEST("averages are those of a plain vector") {
    std::mt19937 random(3);
    const std::vector<int32_t> block{0, 1, 1};
    OnlineWeights weights = in_blocks(block, 2, 2);
    std::vector<double> plain(6, 0.0), total(6, 0.0);
    for (int round = 0; round < 300; ++round) {
        const auto a = static_cast<int64_t>(random() % 3);
        const auto c = static_cast<uint32_t>(random() % 2);
        weights.add(0, a, c, 1.0 + a);
        plain[a * 2 + c] += 1.0 + static_cast<double>(a);
        weights.next_round();
        for (size_t i = 0; i < 6; ++i) total[i] += plain[i];
        if (round % 10 == 9) {
            const double factor[2] = {0.5, round % 100 == 99 ? 1e-120 : 0.9};
            weights.scale(factor);
            for (size_t i = 0; i < 6; ++i) plain[i] *= factor[block[i / 2]];
        }
    }
    const auto found = as_map(weights, true);
    for (const auto& [feature, value] : found) CHECK_NEAR(value, total[feature] / 300, 1e-9);
}

TEST("weights go on from a state as if there had been no break") {
    const std::vector<int32_t> block = {0, 0, 1, 1, 2};
    const std::vector<char> chosen = {1, 0, 1};
    OnlineWeights whole = in_blocks(block, 3, 3);
    const auto work = [&](OnlineWeights& weights, unsigned seed) {
        std::mt19937 own(seed);
        for (int t = 0; t < 40; ++t) {
            weights.add(0, own() % block.size(), own() % 3, static_cast<double>(own() % 1000) / 700 - 0.7);
            weights.next_round();
            if (t % 7 == 0) weights.pull_entries(0.05, chosen.data());
            if (t % 9 == 0) weights.pull_rows(0.05, chosen.data());
            if (t % 5 == 0) {
                const double factors[] = {0.4, 1.0, t == 20 ? 0.0 : 0.9};
                weights.scale(factors);
            }
        }
    };
    work(whole, 1);
    whole.forget_average();
    work(whole, 2);
    const OnlineWeights::State state = whole.state();
    OnlineWeights again = in_blocks(block, 3, 3);
    again.restore(state);
    for (size_t i = 0; i < state.features.size(); ++i)
        again.restore_entry(state, i, 0, state.features[i] / 3, static_cast<uint32_t>(state.features[i] % 3));
    CHECK(!state.features.empty() && again.n_entries() == whole.n_entries());
    work(whole, 3);
    work(again, 3);
    CHECK(as_map(again) == as_map(whole) && as_map(again, true) == as_map(whole, true));
    CHECK(again.running_norms() == whole.running_norms());
}

// w and the penalty q that it has had, as in the paper (Tsuruoka et al. 2009, Figure 2), applied to all weights in
// every round; the L2 part shrinks all of them, and what they owe, too.
TEST("one sum a weight makes the cumulative penalty") {
    std::mt19937 random(11);
    const int64_t n_attributes = 12, width = 50, rounds = 600;
    auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
    for (const double l2 : {0.0, 0.3, 40.0}) {  // the last makes the scale too small twice
        const auto exempt = std::make_unique<bool[]>(n_attributes);
        exempt[3] = exempt[7] = true;
        SummedWeights weights(all_columns(n_attributes, width), all_columns(0, width * width), exempt.get(),
                              exempt.get());
        weights.add_rounds(100);
        for (int64_t a = 0; a < n_attributes; ++a)
            for (int64_t n = 0; n < (a % 3 ? 5 : 60); ++n) weights.fires(0, a);  // every third is full at once
        const double l1 = 0.5;
        weights.set_penalty(l1, l2, 0.0);
        std::vector<double> w(n_attributes * width, 0.0), q(w.size(), 0.0);
        double u = 0;
        for (int64_t round = 0; round < rounds; ++round) {
            const double step = uniform(0.1, 1);
            const auto a = static_cast<int64_t>(random() % n_attributes);
            std::vector<uint32_t> column;
            std::vector<double> value;
            for (uint32_t c = 0; c < width; ++c)
                if (random() % 50 < (a % 2 ? 2 : 20)) {
                    column.push_back(c);
                    value.push_back(uniform(-1, 1) + (c % 5 == 0) - (c % 5 == 1));
                }
            weights.change(0, a, step, 0.5, column.data(), value.data(), column.size());
            weights.next_round(step);
            for (size_t j = 0; j < column.size(); ++j) w[a * width + column[j]] += step * 0.5 * value[j];
            u += step * l1 / 100;
            for (size_t k = 0; k < w.size(); ++k) {
                if (exempt[k / width]) continue;
                const double z = w[k];
                if (w[k] > 0) w[k] = std::max(0.0, w[k] - (u + q[k]));
                else if (w[k] < 0) w[k] = std::min(0.0, w[k] + (u - q[k]));
                q[k] += w[k] - z;
                w[k] /= 1 + step * l2 / 100;
                q[k] /= 1 + step * l2 / 100;
            }
            u /= 1 + step * l2 / 100;
            if (round % 20 != 19) continue;
            const auto found = as_map(weights);
            size_t active = 0;
            for (size_t k = 0; k < w.size(); ++k) {
                const auto feature = static_cast<int64_t>(k);
                CHECK_NEAR(found.count(feature) ? found.at(feature) : 0.0, w[k], 1e-11);
                active += std::abs(w[k]) > 1e-9;
            }
            CHECK(l2 > 1 || (active > 20 && active < w.size() * 2 / 3));
        }
        CHECK(weights.n_entries() <= n_attributes * width && weights.n_entries() >= 8 * width);
    }
}

TEST("sums go on from a state as if there had been no break") {
    const int64_t n_attributes = 6, width = 8;
    const bool exempt[n_attributes] = {false, false, true, false, false, false};
    const auto fresh = [&] {
        SummedWeights weights(all_columns(n_attributes, width), all_columns(0, width * width), exempt, exempt);
        weights.add_rounds(30);
        for (int64_t a = 0; a < n_attributes; ++a)
            for (int64_t n = 0; n < (a % 2 ? 2 : 40); ++n) weights.fires(0, a);  // every other is full at once
        weights.set_penalty(0.4, 0.2, 0.0);
        return weights;
    };
    const auto work = [&](SummedWeights& weights, unsigned seed) {
        std::mt19937 own(seed);
        for (int t = 0; t < 30; ++t) {
            const auto a = static_cast<int64_t>(own() % n_attributes);
            const uint32_t column[] = {static_cast<uint32_t>(own() % 4), static_cast<uint32_t>(4 + own() % 4)};
            const double value[] = {static_cast<double>(own() % 1000) / 500 - 0.9, 0.7};
            weights.change(0, a, 0.5, 1.0, column, value, 2);
            weights.next_round(0.5);
        }
    };
    SummedWeights whole = fresh(), again = fresh();
    work(whole, 1);
    const SummedWeights::State state = whole.state();
    again.restore(state);
    for (size_t i = 0; i < state.features.size(); ++i)
        again.restore_entry(state, i, 0, state.features[i] / width, static_cast<uint32_t>(state.features[i] % width));
    CHECK(!state.features.empty() && !as_map(whole).empty() && as_map(again) == as_map(whole));
    work(whole, 2);
    work(again, 2);
    CHECK(as_map(again) == as_map(whole));
}

TEST("changes that could not come to a share of the penalty are left out") {
    const bool exempt[2] = {false, true};
    SummedWeights weights(all_columns(2, 9), all_columns(0, 81), exempt, exempt);
    for (int n = 0; n < 4; ++n) {
        weights.fires(0, 0);
        weights.fires(0, 1);
    }
    weights.set_penalty(2.0, 0.0, 0.1);
    CHECK_NEAR(weights.smallest_change(0, 0, 1.0), 0.05, 1e-15);  // four times this is a tenth of 2
    CHECK_NEAR(weights.smallest_change(0, 0, -2.0), 0.025, 1e-15);
    CHECK(weights.smallest_change(0, 1, 1.0) == 1e-7);
    const uint32_t column[] = {1, 3, 4};
    const double value[] = {0.04, -0.06, 0.5};
    weights.change(0, 0, 1.0, 1.0, column, value, 3);
    CHECK(weights.n_entries() == 2 && as_map(weights).count(1) == 0);
    weights.change(0, 1, 1.0, 1.0, column, value, 3);
    CHECK(weights.n_entries() == 5);
}

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
