#include "../online.hpp"

#include <map>
#include <random>

#include "check.hpp"

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
    return {all_columns(static_cast<int64_t>(block.size()), width), all_columns(0, width), block.data(), nobody.data(), n_blocks};
}

std::map<int64_t, double> as_map(OnlineWeights& weights, bool averaged = false) {
    std::vector<int64_t> features;
    std::vector<double> values;
    weights.collect(averaged, features, values);
    std::map<int64_t, double> out;
    for (size_t i = 0; i < features.size(); ++i) out[features[i]] = values[i];
    return out;
}

}  // namespace

TEST("touched rows are found again, grow and are reused") {
    const std::vector<int32_t> block(10, 0);
    TouchedRows rows(all_columns(10, 50), block.data());
    bool fresh;
    for (uint32_t c = 0; c < 50; ++c)
        for (int64_t a = 0; a < 10; ++a) rows.touch(a, (c * 7) % 50, fresh)->value = static_cast<double>(a * 100 + (c * 7) % 50);
    CHECK(rows.n_entries() == 500);
    for (int64_t a = 0; a < 10; ++a)
        for (uint32_t c = 0; c < 50; ++c) CHECK(rows.touch(a, c, fresh)->value == static_cast<double>(a * 100 + c) && !fresh);
    rows.drop(3);
    CHECK(rows.n_entries() == 450 && rows.head(3).n == 0);
    rows.filter(4, [](const Entry& e) { return e.column < 3; });
    CHECK(rows.head(4).n == 3 && rows.n_entries() == 403);
    for (uint32_t c = 0; c < 3; ++c) CHECK(rows.touch(4, c, fresh)->value == 400.0 + c);
    rows.filter(4, [](const Entry&) { return false; });
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
        auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
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
                    CHECK_NEAR(found.count(static_cast<int64_t>(i)) ? found[static_cast<int64_t>(i)] : 0.0, plain[i], 1e-9);
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
