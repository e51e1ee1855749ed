#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "learners/summed_weights.hpp"
#include "tests/check.hpp"
#include "tests/learners/weights_as_map.hpp"

using namespace parsimon;
using namespace check;

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
