// Sparse vectors of one row of columns, as updates of online learners need them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parsimon {

// Numbers at few of many columns, read out in ascending order.
class ColumnSums {
  public:
    explicit ColumnSums(int64_t n) : sum_(n, 0.0), marked_((n + 63) / 64, 0) {}

    void add(uint32_t column, double by) {
        marked_[column / 64] |= uint64_t{1} << (column % 64);
        sum_[column] += by;
    }
    void set(uint32_t column, double to) {
        marked_[column / 64] |= uint64_t{1} << (column % 64);
        sum_[column] = to;
    }

    // body(column, number), after which there is nothing left.
    template <class Body>
    void drain(Body&& body) {
        for (size_t word = 0; word < marked_.size(); ++word) {
            for (uint64_t bits = marked_[word]; bits; bits &= bits - 1) {
                const auto column = static_cast<uint32_t>(64 * word + std::countr_zero(bits));
                body(column, sum_[column]);
                sum_[column] = 0;
            }
            marked_[word] = 0;
        }
    }

  private:
    std::vector<double> sum_;
    std::vector<uint64_t> marked_;
};

// gold − answer at the columns where they differ, ascending: what the features of a token or of a step change by.
struct ColumnDifferences {
    std::vector<uint32_t> column;
    std::vector<double> value;
    size_t n = 0;

    void clear(size_t room) {
        n = 0;
        if (column.size() >= room) return;
        column.resize(room);
        value.resize(room);
    }
    // Overwritten by the next unless `keep`.
    void add(uint32_t c, double v, bool keep) {
        column[n] = c;
        value[n] = v;
        n += keep;
    }
};

}  // namespace parsimon
