// Random chains, and their marginals by the enumeration of all outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "chains/chain_posterior.hpp"
#include "chains/chain_shape.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

namespace check {

using namespace parsimon;

// A batch of chains with its scores. Steps are grouped by kind in pieces of at most three.
struct Chains {
    int32_t n_labels;
    int64_t n_kinds;
    std::vector<int64_t> offsets{0}, piece_start;
    std::vector<int32_t> pair_kind, piece_kind, steps;
    std::vector<double> weight, node, pair, single_score;
    // Single pairs: rows of them, each with its matrix.
    std::vector<int32_t> row, row_kind, row_steps;
    std::vector<int64_t> single_start, row_start;
    std::vector<uint32_t> single;

    Chains(const std::vector<int64_t>& lengths, int32_t labels, int64_t kinds, double spread, uint32_t seed,
           bool weighted = false, int rows = 0)
        : n_labels(labels), n_kinds(kinds) {
        std::mt19937 random(seed);
        for (const int64_t n : lengths) offsets.push_back(offsets.back() + n);
        for (int64_t t = 0; t < offsets.back(); ++t)
            pair_kind.push_back(kinds ? static_cast<int32_t>(random() % kinds) : -1);
        if (rows) add_singles(rows, spread, random);
        for (int64_t k = 0; k < kinds; ++k) {
            size_t in_piece = 3;
            for (size_t i = 0; i < lengths.size(); ++i)
                for (int64_t t = offsets[i] + 1; t < offsets[i + 1]; ++t) {
                    if (pair_kind[t] != k) continue;
                    if (in_piece == 3) {
                        piece_start.push_back(static_cast<int64_t>(steps.size()));
                        piece_kind.push_back(static_cast<int32_t>(k));
                        in_piece = 0;
                    }
                    steps.push_back(static_cast<int32_t>(t));
                    ++in_piece;
                }
        }
        piece_start.push_back(static_cast<int64_t>(steps.size()));
        std::uniform_real_distribution<double> score(-spread, spread), positive(0.1, 2.0);
        if (weighted)
            for (size_t i = 0; i < lengths.size(); ++i) weight.push_back(i == 1 ? 0.0 : positive(random));
        for (int64_t i = 0; i < offsets.back() * labels; ++i) node.push_back(score(random));
        for (int64_t i = 0; i < kinds * labels * labels; ++i) pair.push_back(score(random));
    }

    // Every second token has a row of single pairs; some matrices are left to no step at all.
    void add_singles(int rows, double spread, std::mt19937& random) {
        std::uniform_real_distribution<double> score(-spread, spread);
        single_start.push_back(0);
        for (int r = 0; r < rows; ++r) {
            row_kind.push_back(static_cast<int32_t>(random() % (n_kinds + 1)) - 1);
            for (int32_t x = 0; x < n_labels; ++x)
                for (int32_t y = 0; y < n_labels; ++y)
                    if (random() % 3 == 0) {
                        single.push_back(pair_of(x, y));
                        single_score.push_back(score(random));
                    }
            single_start.push_back(static_cast<int64_t>(single.size()));
        }
        for (int64_t t = 0; t < n_tokens(); ++t) {
            row.push_back(random() % 2 ? static_cast<int32_t>(random() % rows) : -1);
            if (row.back() >= 0) pair_kind[t] = row_kind[row.back()];
        }
        for (int r = 0; r < rows; ++r) {
            row_start.push_back(static_cast<int64_t>(row_steps.size()));
            for (int64_t i = 0; i < n_sequences(); ++i)
                for (int64_t t = offsets[i] + 1; t < offsets[i + 1]; ++t)
                    if (row[t] == r) row_steps.push_back(static_cast<int32_t>(t));
        }
        row_start.push_back(static_cast<int64_t>(row_steps.size()));
    }

    double pair_score(int64_t t, int32_t x, int32_t y) const {
        const int64_t kind = pair_kind[t], at = shape().find(shape().row_of(t), pair_of(x, y));
        return (kind < 0 ? 0.0 : pair[(kind * n_labels + x) * n_labels + y]) + (at < 0 ? 0.0 : single_score[at]);
    }
    // Adds to the sums by kind and by row.
    void add_pair(int64_t t, int32_t x, int32_t y, double value, std::vector<double>& pairs,
                  std::vector<double>& singles) const {
        const int64_t kind = pair_kind[t], at = shape().find(shape().row_of(t), pair_of(x, y));
        if (kind >= 0) pairs[(kind * n_labels + x) * n_labels + y] += value;
        if (at >= 0) singles[at] += value;
    }
    PartScores scores() const { return {node.data(), pair.data(), single_score.data()}; }

    int64_t n_sequences() const { return static_cast<int64_t>(offsets.size()) - 1; }
    int64_t n_tokens() const { return offsets.back(); }
    ChainShape shape() const {
        return {
            .n_sequences = n_sequences(),
            .offsets = offsets.data(),
            .n_labels = n_labels,
            .n_kinds = n_kinds,
            .pair_kind = pair_kind.data(),
            .weight = weight.empty() ? nullptr : weight.data(),
            .n_pieces = static_cast<int64_t>(piece_kind.size()),
            .piece_start = piece_start.data(),
            .piece_kind = piece_kind.data(),
            .steps = steps.data(),
            .n_rows = static_cast<int64_t>(row_kind.size()),
            .row = row.empty() ? nullptr : row.data(),
            .row_kind = row_kind.data(),
            .single_start = single_start.data(),
            .single = single.data(),
            .row_start = row_start.data(),
            .row_steps = row_steps.data(),
        };
    }

    double score(int64_t i, const std::vector<int32_t>& y) const {
        double sum = 0;
        for (size_t t = 0; t < y.size(); ++t) {
            const int64_t at = offsets[i] + static_cast<int64_t>(t);
            sum += node[at * n_labels + y[t]];
            if (t) sum += pair_score(at, y[t - 1], y[t]);
        }
        return sum;
    }

    // Every output of a sequence with its score, best first; only those that are possible.
    std::vector<std::pair<double, std::vector<int32_t>>> outputs(int64_t i) const {
        std::vector<std::pair<double, std::vector<int32_t>>> all;
        std::vector<int32_t> y(offsets[i + 1] - offsets[i], 0);
        for (;;) {
            if (const double s = score(i, y); s > -infinity) all.emplace_back(s, y);
            size_t t = 0;
            while (t < y.size() && ++y[t] == n_labels) y[t++] = 0;
            if (t == y.size()) break;
        }
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        return all;
    }
};

struct Marginals {
    std::vector<double> log_z, node, pair, single;
    bool feasible = true;
};

inline Marginals enumerated(const Chains& c) {
    Marginals m{std::vector<double>(c.n_sequences()), std::vector<double>(c.node.size()),
                std::vector<double>(c.pair.size()), std::vector<double>(c.single.size())};
    const int64_t Y = c.n_labels;
    for (int64_t i = 0; i < c.n_sequences(); ++i) {
        const auto outputs = c.outputs(i);
        if (outputs.empty()) {
            m.feasible = false;
            continue;
        }
        double z = 0;
        for (const auto& [s, y] : outputs) z += std::exp(s - outputs[0].first);
        m.log_z[i] = outputs[0].first + std::log(z);
        for (const auto& [s, y] : outputs) {
            const double p = std::exp(s - m.log_z[i]) * (c.weight.empty() ? 1.0 : c.weight[i]);
            for (size_t t = 0; t < y.size(); ++t) {
                const int64_t at = c.offsets[i] + static_cast<int64_t>(t);
                m.node[at * Y + y[t]] += p;
                if (t) c.add_pair(at, y[t - 1], y[t], p, m.pair, m.single);
            }
        }
    }
    return m;
}

inline Marginals computed(const Kernels& table, const Chains& c, int threads, bool in_place = false) {
    const auto scratch = c.n_tokens() * padded(c.n_labels);
    std::vector<double> left(scratch), right(scratch);
    Marginals m{std::vector<double>(c.n_sequences()), c.node, std::vector<double>(c.pair.size(), 77.0),
                std::vector<double>(c.single.size(), 77.0)};
    PartScores scores = c.scores();
    if (in_place) scores.node = m.node.data();
    m.feasible =
        table.chain_marginals(c.shape(), scores, m.log_z.data(), {m.node.data(), m.pair.data(), m.single.data()},
                              left.data(), right.data(), nullptr, threads);
    return m;
}

inline void check_equal(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
    CHECK(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK_NEAR(a[i], b[i], tolerance);
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline const std::vector<int64_t> ragged{4, 3, 0, 1, 2, 0, 5, 1};

}  // namespace check
