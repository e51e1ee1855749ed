// A sparse map seen from its attributes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "maps/csr.hpp"

namespace parsimon {

// The rows on which each attribute fires. Attributes that never fire are not listed, so that the size goes with the
// rows: there may be many batches of them, each with a few of very many attributes.
struct AttributeRows {
    std::vector<int32_t> attribute;  // ascending
    std::vector<int64_t> start;      // [attributes listed + 1]
    std::vector<int32_t> index;      // rows, ascending within an attribute
    std::vector<double> value;       // empty means ones

    int64_t size() const { return static_cast<int64_t>(attribute.size()); }

    // The first place from which on there are attributes with this number or a higher one.
    int64_t place_from(int64_t a) const {
        if (a < size() && attribute[a] == a) return a;  // all up to this one fire
        return std::lower_bound(attribute.begin(), attribute.end(), a) - attribute.begin();
    }
    // Where the entries of an attribute begin and end; nowhere if it never fires.
    std::pair<int64_t, int64_t> entries_of(int64_t a) const {
        const int64_t p = place_from(a);
        if (p == size() || attribute[p] != a) return {0, 0};
        return {start[p], start[p + 1]};
    }
};

inline AttributeRows attribute_rows(const Csr& rows, int64_t n_attributes) {
    AttributeRows out;
    std::vector<int32_t> place(n_attributes, -1);
    for (const int32_t a : rows.index) place[a] = 0;
    for (int64_t a = 0; a < n_attributes; ++a) {
        if (place[a] < 0) continue;
        place[a] = static_cast<int32_t>(out.attribute.size());
        out.attribute.push_back(static_cast<int32_t>(a));
    }
    out.attribute.shrink_to_fit();
    out.start.assign(out.attribute.size() + 1, 0);
    for (const int32_t a : rows.index) ++out.start[place[a] + 1];
    std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
    out.index.resize(rows.index.size());
    out.value.resize(rows.value.size());
    std::vector<int64_t> next(out.start.begin(), out.start.end() - 1);
    for (int64_t r = 0; r < rows.size(); ++r)
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            const int64_t to = next[place[rows.index[i]]]++;
            out.index[to] = static_cast<int32_t>(r);
            if (!rows.value.empty()) out.value[to] = rows.value[i];
        }
    return out;
}

// Which of them fire on every row once: their values are a plain vector, and products with it need no index.
inline std::vector<char> full_rows(const AttributeRows& rows, int64_t n_rows) {
    std::vector<char> full(rows.size(), 0);
    for (int64_t p = 0; p < rows.size() && !rows.value.empty(); ++p) {
        const int32_t* index = rows.index.data() + rows.start[p];
        if (rows.start[p + 1] - rows.start[p] != n_rows) continue;
        int64_t r = 0;
        while (r < n_rows && index[r] == r) ++r;
        full[p] = r == n_rows;
    }
    return full;
}

}  // namespace parsimon
