// Which columns make a feature with which attribute, and how features are numbered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "maps/csr.hpp"

namespace parsimon {

// The features of each attribute.
struct FeatureRows {
    int64_t width = 0;
    int64_t n_attributes = 0;
    bool all = true;              // every column with every attribute
    std::vector<int64_t> start;   // [n_attributes + 1] unless all
    std::vector<int32_t> column;  // ascending within an attribute

    bool operator==(const FeatureRows& other) const {
        return this == &other
               || (width == other.width && n_attributes == other.n_attributes && all == other.all
                   && start == other.start && column == other.column);
    }

    int64_t size() const { return all ? n_attributes * width : start.back(); }

    // The number of an attribute's feature with a column; −1 if there is none.
    int64_t feature(int64_t a, int64_t c) const {
        if (all) return a * width + c;
        const auto first = column.begin() + start[a], last = column.begin() + start[a + 1];
        const auto at = std::lower_bound(first, last, static_cast<int32_t>(c));
        return at != last && *at == c ? at - column.begin() : -1;
    }
    bool has(int64_t a, int64_t c) const {
        if (all || start[a + 1] - start[a] == width) return true;
        return std::binary_search(column.begin() + start[a], column.begin() + start[a + 1], static_cast<int32_t>(c));
    }

    // The other way round: the attribute and the column of a feature.
    struct Place {
        int64_t attribute;
        int64_t column;
    };
    Place place(int64_t feature) const {
        if (feature < 0 || feature >= size()) throw std::invalid_argument("no such feature");
        if (all) return {feature / width, feature % width};
        const auto next = std::upper_bound(start.begin(), start.end(), feature);
        return {next - start.begin() - 1, column[feature]};
    }

    // Attributes with several columns are handled as whole rows, which is quicker than one by one, unless rows are
    // long.
    bool whole_row(int64_t a) const {
        if (all) return true;
        const int64_t n = start[a + 1] - start[a];
        return n * 8 >= std::min<int64_t>(width, 24) && n * 64 >= width;
    }
};

// Attributes whose weights are laid out as whole rows.
struct WholeAttributes {
    std::vector<int32_t> attribute;

    // Of all attributes of some features.
    static WholeAttributes of(const FeatureRows& features) {
        WholeAttributes out;
        for (int64_t a = 0; a < features.n_attributes; ++a)
            if (features.whole_row(a)) out.attribute.push_back(static_cast<int32_t>(a));
        return out;
    }
    // Their weights as rows [width], zero where there is no feature, and where the row of each attribute is. The first
    // row has zeros for all attributes that have no other weights: of those that a penalty leaves, these are most.
    std::pair<std::vector<double>, std::vector<int32_t>> laid_out(const FeatureRows& features, const double* w) const {
        std::vector<int32_t> row_of(features.n_attributes, 0);
        int32_t n_rows = 1;
        for (const int32_t a : attribute) {
            const auto zero = [](double weight) { return weight == 0; };
            if (!std::all_of(w + features.start[a], w + features.start[a + 1], zero)) row_of[a] = n_rows++;
        }
        std::vector<double> rows(static_cast<int64_t>(n_rows) * features.width, 0.0);
        for (const int32_t a : attribute) {
            double* row = rows.data() + row_of[a] * features.width;
            for (int64_t k = features.start[a]; row_of[a] && k < features.start[a + 1]; ++k)
                row[features.column[k]] = w[k];
        }
        return {std::move(rows), std::move(row_of)};
    }
};

// Whole rows of weights: where each attribute's is.
struct WeightRows {
    const double* rows;
    const int32_t* place;  // null: a row for every attribute

    const double* row(int64_t a, int64_t width) const { return rows + (place ? place[a] : a) * width; }
};

// The columns that each attribute meets: those of the rows it fires on (−1 for none), each once, ascending.
inline FeatureRows seen_features(const Csr& rows, const int32_t* column, int64_t n_attributes, int64_t width) {
    FeatureRows seen;
    seen.width = width;
    seen.n_attributes = n_attributes;
    seen.all = false;
    seen.start.push_back(0);
    Csr pattern;
    pattern.start = rows.start;
    pattern.index = rows.index;
    const Csr attributes = transpose(pattern, n_attributes);
    std::vector<int64_t> last(width, -1);  // the attribute that met a column last
    for (int64_t a = 0; a < n_attributes; ++a) {
        const size_t first = seen.column.size();
        for (int64_t i = attributes.start[a]; i < attributes.start[a + 1]; ++i) {
            const int32_t c = column[attributes.index[i]];
            if (c < 0 || last[c] == a) continue;
            last[c] = a;
            seen.column.push_back(c);
        }
        std::sort(seen.column.begin() + first, seen.column.end());
        seen.start.push_back(static_cast<int64_t>(seen.column.size()));
    }
    return seen;
}

}  // namespace parsimon
