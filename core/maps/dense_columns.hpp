// A matrix without gaps, by columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "maps/csr.hpp"

namespace parsimon {

struct DenseColumns {
    int64_t n_rows = 0, n_columns = 0;
    std::shared_ptr<const double> values;  // [columns][rows]; whoever made them may keep them, too

    const double* column(int64_t c) const { return values.get() + c * n_rows; }

    // Those whose new number is not −1; numbers ascend.
    DenseColumns chosen(const std::vector<int32_t>& new_number, int64_t n, int threads) const {
        return filled(n_rows, n, [&](double* to) {
            parallel_for(n_columns, threads, [&](int64_t c, int) {
                if (new_number[c] >= 0) std::copy_n(column(c), n_rows, to + new_number[c] * n_rows);
            });
        });
    }
    // Some of the rows, in the order given.
    DenseColumns taken(const int64_t* chosen, int64_t n) const {
        return filled(n, n_columns, [&](double* to) {
            for (int64_t c = 0; c < n_columns; ++c)
                for (int64_t i = 0; i < n; ++i) to[c * n + i] = column(c)[chosen[i]];
        });
    }
    // The same numbers as sparse rows.
    Csr rows() const {
        Csr out;
        out.start.resize(n_rows + 1);
        out.index.resize(n_rows * n_columns);
        out.value.resize(n_rows * n_columns);
        for (int64_t r = 0; r <= n_rows; ++r) out.start[r] = r * n_columns;
        for (int64_t r = 0; r < n_rows; ++r) {
            std::iota(out.index.begin() + r * n_columns, out.index.begin() + (r + 1) * n_columns, 0);
            for (int64_t c = 0; c < n_columns; ++c) out.value[r * n_columns + c] = column(c)[r];
        }
        return out;
    }

  private:
    // body(values) writes all of them; they are not zero before.
    template <class Body>
    static DenseColumns filled(int64_t rows, int64_t columns, Body&& body) {
        std::unique_ptr<double[]> values(new double[rows * columns]);
        body(values.get());
        return {rows, columns, std::shared_ptr<const double>(values.release(), std::default_delete<const double[]>())};
    }
};

}  // namespace parsimon
