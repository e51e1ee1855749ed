// Sparse matrices by rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace parsimon {

// Compressed sparse rows. An empty `value` means ones.
struct Csr {
    std::vector<int64_t> start;  // [n + 1]
    std::vector<int32_t> index;
    std::vector<double> value;

    int64_t size() const { return static_cast<int64_t>(start.size()) - 1; }
    int64_t entries() const { return start.back(); }
};

inline Csr transpose(const Csr& rows, int64_t n_columns) {
    Csr columns;
    columns.start.assign(n_columns + 1, 0);
    for (const int32_t a : rows.index) ++columns.start[a + 1];
    std::partial_sum(columns.start.begin(), columns.start.end(), columns.start.begin());
    columns.index.resize(rows.index.size());
    columns.value.resize(rows.value.size());
    std::vector<int64_t> next(columns.start.begin(), columns.start.end() - 1);
    for (int64_t r = 0; r < rows.size(); ++r)
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            const int64_t to = next[rows.index[i]]++;
            columns.index[to] = static_cast<int32_t>(r);
            if (!rows.value.empty()) columns.value[to] = rows.value[i];
        }
    return columns;
}

// Rows that are equal, entry by entry, are one: returns the distinct rows and which one each row is.
// Label pairs are scored once per distinct row, not once per token.
inline std::pair<Csr, std::vector<int32_t>> distinct_rows(const Csr& rows) {
    std::vector<int32_t> which(rows.size());
    std::vector<int64_t> first;  // a row that shows each distinct one
    std::vector<int32_t> slots(16, -1);
    auto hash = [&](int64_t r) {
        uint64_t h = 0x243F6A8885A308D3ull;
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            h = (h ^ static_cast<uint32_t>(rows.index[i])) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 31;
        }
        return h;
    };
    auto same = [&](int64_t r, int64_t s) {
        const int64_t n = rows.start[r + 1] - rows.start[r];
        if (n != rows.start[s + 1] - rows.start[s]) return false;
        const auto* index = rows.index.data();
        if (!std::equal(index + rows.start[r], index + rows.start[r + 1], index + rows.start[s])) return false;
        const auto* value = rows.value.data();
        return rows.value.empty()
               || std::equal(value + rows.start[r], value + rows.start[r + 1], value + rows.start[s]);
    };
    auto place = [&](int64_t r) -> int32_t& {
        const uint64_t mask = slots.size() - 1;
        uint64_t i = hash(r);
        while (slots[i & mask] >= 0 && !same(r, first[slots[i & mask]])) ++i;
        return slots[i & mask];
    };
    Csr distinct;
    distinct.start.push_back(0);
    for (int64_t r = 0; r < rows.size(); ++r) {
        int32_t& slot = place(r);
        if (slot >= 0) {
            which[r] = slot;
            continue;
        }
        slot = which[r] = static_cast<int32_t>(first.size());
        first.push_back(r);
        distinct.index.insert(distinct.index.end(), rows.index.begin() + rows.start[r],
                              rows.index.begin() + rows.start[r + 1]);
        if (!rows.value.empty())
            distinct.value.insert(distinct.value.end(), rows.value.begin() + rows.start[r],
                                  rows.value.begin() + rows.start[r + 1]);
        distinct.start.push_back(static_cast<int64_t>(distinct.index.size()));
        if (first.size() * 2 > slots.size()) {
            slots.assign(slots.size() * 2, -1);
            for (size_t d = 0; d < first.size(); ++d) place(first[d]) = static_cast<int32_t>(d);
        }
    }
    return {std::move(distinct), std::move(which)};
}

}  // namespace parsimon
