// How far the features of two outputs are apart: sparse vectors f(gold) − f(y), one an instance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "maps/csr.hpp"
#include "maps/feature_rows.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

// Sparse vectors over features, one an instance; ascending within each, without zeros.
struct SparseVectors {
    std::vector<int64_t> start{0};
    std::vector<int32_t> index;
    std::vector<double> value;
};

// The parts at which two outputs of an instance differ: `plus` is the column of the one, `minus` that of the other; −1
// is none. Instance i has those from start[i] on.
struct PartDifferences {
    int64_t n_instances;
    const int64_t* start;  // [n_instances + 1]
    const int32_t *row, *plus, *minus;
};

// Of each instance, Σ over its parts, and over the attributes a that fire on a part's row, of
//
//     value · (e[feature(a, plus)] − e[feature(a, minus)])
inline SparseVectors feature_differences(const LinearMap& map, const PartDifferences& parts, int threads) {
    const Csr& rows = map.rows();
    const FeatureRows& features = map.features();
    const auto feature = [&](int32_t a, int32_t column) { return column < 0 ? -1 : features.feature(a, column); };
    using Term = std::pair<int32_t, double>;  // feature, value
    std::vector<std::vector<Term>> found(parts.n_instances);
    parallel_for(parts.n_instances, parts.n_instances > 16 ? threads : 1, [&](int64_t i, int) {
        std::vector<Term>& mine = found[i];
        for (int64_t p = parts.start[i]; p < parts.start[i + 1]; ++p)
            for (int64_t j = rows.start[parts.row[p]]; j < rows.start[parts.row[p] + 1]; ++j) {
                const double value = rows.value.empty() ? 1.0 : rows.value[j];
                const int64_t more = feature(rows.index[j], parts.plus[p]),
                              less = feature(rows.index[j], parts.minus[p]);
                if (more >= 0) mine.emplace_back(static_cast<int32_t>(more), value);
                if (less >= 0) mine.emplace_back(static_cast<int32_t>(less), -value);
            }
        std::stable_sort(mine.begin(), mine.end(), [](const Term& a, const Term& b) { return a.first < b.first; });
        size_t kept = 0;
        for (size_t j = 0; j < mine.size();) {
            Term sum = mine[j];
            for (++j; j < mine.size() && mine[j].first == sum.first; ++j) sum.second += mine[j].second;
            if (sum.second != 0) mine[kept++] = sum;
        }
        mine.resize(kept);
    });
    SparseVectors out;
    for (const auto& mine : found) out.start.push_back(out.start.back() + static_cast<int64_t>(mine.size()));
    out.index.reserve(out.start.back());
    out.value.reserve(out.start.back());
    for (const auto& mine : found)
        for (const auto& [k, value] : mine) {
            out.index.push_back(k);
            out.value.push_back(value);
        }
    return out;
}

// Sparse vectors as they are given, one an instance: features are counted from `first` on.
struct GivenVectors {
    int64_t first;
    const int64_t* start;  // [n + 1]
    const int32_t* index;
    const double* value;
};

// out[K][K] += Σ_i times_i · v_i v_iᵀ, where v_i is the sum of an instance's vectors, which share no feature.
inline void add_outer_products(const std::vector<GivenVectors>& vectors, int64_t n, const double* times, int64_t K,
                               double* out) {
    std::vector<std::pair<int64_t, double>> mine;
    for (int64_t i = 0; i < n; ++i) {
        mine.clear();
        for (const GivenVectors& each : vectors)
            for (int64_t j = each.start[i]; j < each.start[i + 1]; ++j)
                mine.emplace_back(each.first + each.index[j], each.value[j]);
        for (const auto& [k, value] : mine)
            for (const auto& [l, other] : mine) out[k * K + l] += times[i] * value * other;
    }
}

}  // namespace parsimon
