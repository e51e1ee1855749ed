// The weights of block coordinate descent: of every attribute, those that are not zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace parsimon {

// A number for a label, or for a pair of labels.
struct CellValue {
    uint32_t cell;
    double value;
};

// Values of some cells, ascending; all others are zero.
using CellValues = std::vector<CellValue>;

class BlockWeights {
  public:
    // Attributes of tokens, and of steps.
    BlockWeights(int64_t n_node, int64_t n_pair)
        : rows_{std::vector<CellValues>(n_node), std::vector<CellValues>(n_pair)} {}

    const CellValues& row(int part, int64_t a) const { return rows_[part][a]; }

    double value(int part, int64_t a, uint32_t cell) const {
        const CellValues& row = rows_[part][a];
        const auto at = place(row.begin(), row.end(), cell);
        return at != row.end() && at->cell == cell ? at->value : 0.0;
    }

    void add(int part, int64_t a, const CellValues& changes) {
        CellValues& row = rows_[part][a];
        for (const CellValue& change : changes) {
            const auto at = place(row.begin(), row.end(), change.cell);
            if (at != row.end() && at->cell == change.cell) at->value += change.value;
            else row.insert(at, change);
        }
        std::erase_if(row, [](const CellValue& weight) { return weight.value == 0; });
    }

  private:
    template <class Iterator>
    static Iterator place(Iterator first, Iterator last, uint32_t cell) {
        return std::lower_bound(first, last, cell, [](const CellValue& c, uint32_t k) { return c.cell < k; });
    }

    std::vector<CellValues> rows_[2];
};

}  // namespace parsimon
