#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "learners/online_weights.hpp"
#include "tests/check.hpp"
#include "tests/learners/weights_as_map.hpp"

using namespace parsimon;
using namespace check;

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

TEST("small rows and small weights are dropped, and the others stay as they are") {
    const std::vector<int32_t> block = {0, 0, 1};
    const std::vector<char> first = {1, 0};
    const auto made = [&] {
        OnlineWeights weights = in_blocks(block, 2, 2);
        weights.add(0, 0, 0, 3.0);
        weights.add(0, 0, 1, 4.0);  // a row of norm 5
        weights.add(0, 1, 0, 1.0);
        weights.add(0, 2, 1, 0.5);
        const double factors[] = {2.0, 1.0};
        weights.scale(factors);
        return weights;
    };
    OnlineWeights rows = made();
    rows.drop_rows(2.0, first.data());
    CHECK((as_map(rows) == std::map<int64_t, double>{{0, 6.0}, {1, 8.0}, {5, 0.5}}));
    OnlineWeights entries = made();
    entries.drop_entries(6.0, first.data());
    CHECK((as_map(entries) == std::map<int64_t, double>{{1, 8.0}, {5, 0.5}}));
    CHECK_NEAR(entries.norms()[0], 8.0, 1e-12);
    CHECK_NEAR(entries.running_norms()[0], 8.0, 1e-12);
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
