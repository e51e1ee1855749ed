// Marginals within a window of one sequence against the enumeration of all its outputs, in both builds of the kernels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "chains/chain_shape.hpp"
#include "chains/chain_window.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

using namespace parsimon;
using namespace check;

namespace {

// One sequence. The steps have the matrix or not, in turn, and a few single pairs.
struct Sequence {
    int32_t Y;
    int64_t T;
    std::vector<double> node;
    CachedMatrix matrix;
    std::vector<CachedRow> rows;

    Sequence(int32_t n_labels, int64_t length, double node_spread, double pair_spread, unsigned seed)
        : Y(n_labels), T(length), rows(length) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> number(-1, 1);
        const int64_t S = padded(Y);
        for (int64_t i = 0; i < T * Y; ++i) node.push_back(node_spread * number(random));
        matrix.score.assign(Y * S, -infinity);
        matrix.score_back = matrix.score;
        matrix.lifted.assign(Y * S, 0.0);
        matrix.lifted_back = matrix.lifted;
        for (int64_t x = 0; x < Y; ++x)
            for (int64_t y = 0; y < Y; ++y) {
                const double score = pair_spread * number(random);
                matrix.score[x * S + y] = matrix.score_back[y * S + x] = score;
                matrix.lifted[x * S + y] = matrix.lifted_back[y * S + x] = std::exp(score);
                matrix.low = std::min(matrix.low, score);
                matrix.high = std::max(matrix.high, score);
            }
        for (int64_t t = 1; t < T; ++t) {
            CachedRow& row = rows[t];
            row.matrix = t % 2 ? &matrix : nullptr;
            for (int32_t x = 0; x < Y; ++x)
                for (int32_t y = 0; y < Y; ++y)
                    if (random() % 4 == 0) add(row, pair_of(x, y), pair_spread * number(random));
        }
    }

    static void add(CachedRow& row, uint32_t pair, double score) {
        row.pair.push_back(pair);
        row.score.push_back(score);
        row.lifted.push_back(std::exp(score));
        row.low = std::min(row.low, score);
        row.high = std::max(row.high, score);
        row.loses_digits = row.loses_digits || row.lifted.back() < cancellation_limit;
    }

    double pair_score(int64_t t, int32_t x, int32_t y) const {
        double score = rows[t].matrix ? matrix.score[x * padded(Y) + y] : 0.0;
        for (size_t e = 0; e < rows[t].pair.size(); ++e)
            if (rows[t].pair[e] == pair_of(x, y)) score += rows[t].score[e];
        return score;
    }

    // Of nodes [T][Y], and of pairs [T][Y][Y].
    std::pair<std::vector<double>, std::vector<double>> marginals() const {
        std::vector<double> nodes(T * Y, 0.0), pairs(T * Y * Y, 0.0);
        double high = -infinity, z = 0;
        const auto each = [&](auto&& body) {
            std::vector<int32_t> y(T, 0);
            while (true) {
                double score = 0;
                for (int64_t t = 0; t < T; ++t) {
                    score += node[t * Y + y[t]];
                    if (t) score += pair_score(t, y[t - 1], y[t]);
                }
                body(score, y);
                int64_t t = 0;
                while (t < T && ++y[t] == Y) y[t++] = 0;
                if (t == T) return;
            }
        };
        each([&](double score, const auto&) { high = std::max(high, score); });
        each([&](double score, const auto&) { z += std::exp(score - high); });
        each([&](double score, const std::vector<int32_t>& y) {
            const double p = std::exp(score - high) / z;
            for (int64_t t = 0; t < T; ++t) {
                nodes[t * Y + y[t]] += p;
                if (t) pairs[(t * Y + y[t - 1]) * Y + y[t]] += p;
            }
        });
        return {nodes, pairs};
    }
};

void check_windows(const Sequence& sequence, double tolerance) {
    const int64_t Y = sequence.Y, T = sequence.T, S = padded(Y);
    const auto [nodes, pairs] = sequence.marginals();
    const double weight = 0.7;
    for (const Kernels* table : {&baseline_kernels(), &kernels()}) {
        WindowWork work;  // used for one window after the other
        for (int64_t first = 0; first < T; ++first)
            for (int64_t last = first; last < T; ++last) {
                work.rows.assign(T, nullptr);
                for (int64_t t = 1; t < T; ++t) work.rows[t] = &sequence.rows[t];
                CHECK(table->chain_window(work, sequence.node.data(), T, sequence.Y, {first, last}, weight));
                for (int64_t t = first; t <= last; ++t)
                    for (int64_t y = 0; y < Y; ++y)
                        CHECK_NEAR(work.node[t * Y + y], weight * nodes[t * Y + y], tolerance);
                for (int64_t t = first + 1; t <= last; ++t)
                    for (int32_t x = 0; x < Y; ++x)
                        for (int32_t y = 0; y < Y; ++y) {
                            const double p = work.alpha[(t - 1) * S + x] * std::exp(sequence.pair_score(t, x, y))
                                             * work.right[t * S + y];
                            CHECK_NEAR(p, weight * pairs[(t * Y + x) * Y + y], tolerance);
                        }
            }
    }
}

}  // namespace

TEST("marginals in a window are those of the whole sequence") {
    for (const int32_t labels : {1, 2, 3, 5})
        for (const int64_t length : {1, 2, 5}) check_windows(Sequence(labels, length, 2.0, 2.0, labels), 1e-11);
}

TEST("windows of sequences whose scores are too far apart for scaled sums") {
    for (unsigned seed = 0; seed < 4; ++seed) check_windows(Sequence(3, 5, 400.0, 3.0, seed), 1e-9);
}

TEST("windows with single pairs that all but take away what the matrix has") {
    Sequence sequence(3, 5, 1.0, 1.0, 8);
    for (int64_t t = 1; t < 5; ++t) {
        // Every pair into label 1 but one is made unlikely.
        sequence.rows[t] = CachedRow();
        sequence.rows[t].matrix = t % 2 ? &sequence.matrix : nullptr;
        for (int32_t x = 0; x < 2; ++x) Sequence::add(sequence.rows[t], pair_of(x, 1), -25.0);
        CHECK(sequence.rows[t].loses_digits);
    }
    check_windows(sequence, 1e-11);
    Sequence forbidding(2, 4, 1.0, 1.0, 9);
    for (int64_t t = 1; t < 4; ++t) {
        forbidding.rows[t] = CachedRow();
        forbidding.rows[t].matrix = &forbidding.matrix;
        for (int32_t x = 0; x < 2; ++x) Sequence::add(forbidding.rows[t], pair_of(x, 0), -200.0);
    }
    check_windows(forbidding, 1e-9);
}

TEST("a window of a sequence whose scores are not numbers is refused") {
    Sequence sequence(2, 3, 1.0, 1.0, 10);
    sequence.node[3] = std::numeric_limits<double>::quiet_NaN();
    WindowWork work;
    work.rows = {nullptr, &sequence.rows[1], &sequence.rows[2]};
    for (const Kernels* table : {&baseline_kernels(), &kernels()})
        CHECK(!table->chain_window(work, sequence.node.data(), 3, 2, {0, 2}, 1.0));
}
