// A quadratic model of a loss of linear scores, seen from its features: what coordinate descent asks for.
//
//     g·δ + ½ Σ_{n,y} D[n][y] (Xδ)[n][y]²
//
// Both kinds keep the margin Xδ up to date. `SparseColumns` goes through the rows on which an attribute fires;
// `FullColumns` have no gaps, and those of a group are worked on together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

struct QuadraticModel {
    const LinearMap& map;
    const double* curvature;           // D [rows][width]
    const double* gradient;            // g [K]
    const double *l1, *pull, *centre;  // [K]
};

class SparseColumns {
  public:
    // A feature, where its attribute fires (its entries), and its column.
    struct Column {
        int64_t feature, begin, end;
        int32_t column;
        bool everywhere;
    };

    SparseColumns(const QuadraticModel& model, double* margin)
        : model_(model), attributes_(model.map.attributes()), width_(model.map.features().width), margin_(margin) {}

    // Of ascending features.
    std::vector<Column> columns(const int64_t* chosen, int64_t n) const {
        const FeatureRows& features = model_.map.features();
        std::vector<Column> out(n);
        int64_t a = 0;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = chosen[i];
            if (features.all) a = k / features.width;
            else if (i == 0) a = features.place(k).attribute;
            else
                while (features.start[a + 1] <= k) ++a;
            const auto [begin, end] = attributes_.entries_of(a);
            const auto column = static_cast<int32_t>(features.all ? k % features.width : features.column[k]);
            out[i] = {k, begin, end, column, end > begin && model_.map.everywhere(attributes_.place_from(a))};
        }
        return out;
    }

    // Σ D x²
    double bend(const Column& c) const {
        double sum = 0;
        each(c, [&](int64_t e, int64_t at) { sum += value(e) * value(e) * model_.curvature[at]; });
        return sum;
    }

    // out[i][j] = Σ D x_i x_j for all i > j of some columns.
    void bends(const Column* columns, int64_t n, double* out) {
        scattered_.resize(model_.map.n_rows() * width_, 0.0);
        for (int64_t i = 1; i < n; ++i) {
            each(columns[i], [&](int64_t e, int64_t at) { scattered_[at] = value(e) * model_.curvature[at]; });
            for (int64_t j = 0; j < i; ++j) {
                double sum = 0;
                each(columns[j], [&](int64_t e, int64_t at) { sum += value(e) * scattered_[at]; });
                out[i * n + j] = sum;
            }
            each(columns[i], [&](int64_t, int64_t at) { scattered_[at] = 0.0; });
        }
    }

    // out[j] = Σ D x_j Xδ
    void slopes(const Column* columns, int64_t n, double* out) const {
        for (int64_t j = 0; j < n; ++j) {
            const Column& c = columns[j];
            double sum = 0;
            if (c.everywhere) sum = slope_everywhere(attributes_.value.data() + c.begin, model_.map.n_rows());
            else each(c, [&](int64_t e, int64_t at) { sum += value(e) * model_.curvature[at] * margin_[at]; });
            out[j] = sum;
        }
    }

    // Xδ for δ_j + by[j].
    void move(const Column* columns, int64_t n, const double* by) {
        for (int64_t j = 0; j < n; ++j)
            if (by[j] != 0) each(columns[j], [&](int64_t e, int64_t at) { margin_[at] += value(e) * by[j]; });
    }

  private:
    double value(int64_t e) const { return attributes_.value.empty() ? 1.0 : attributes_.value[e]; }

    // body(entry, place in the margin) for the entries of a feature.
    template <class Body>
    void each(const Column& c, Body&& body) const {
        for (int64_t e = c.begin; e < c.end; ++e) body(e, attributes_.index[e] * width_ + c.column);
    }

    // Σ value · curvature · margin over all rows: eight running sums, which are added up in a fixed order.
    double slope_everywhere(const double* value, int64_t n) const {
        constexpr int64_t lanes = 8;
        double sum[lanes] = {};
        int64_t i = 0;
        for (; i + lanes <= n; i += lanes)
            for (int64_t j = 0; j < lanes; ++j) sum[j] += value[i + j] * model_.curvature[i + j] * margin_[i + j];
        for (; i < n; ++i) sum[0] += value[i] * model_.curvature[i] * margin_[i];
        return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }

    const QuadraticModel& model_;
    const AttributeRows& attributes_;
    int64_t width_;
    double* margin_;
    std::vector<double> scattered_;  // [rows][width], zero between uses
};

class FullColumns {
  public:
    struct Column {
        int64_t feature;
    };

    FullColumns(const QuadraticModel& model, double* margin)
        : model_(model), x_(*model.map.dense()), margin_(margin), curved_(x_.n_rows), scaled_(x_.n_rows) {
        kernels().multiply(model_.curvature, margin_, x_.n_rows, curved_.data());
    }

    std::vector<Column> columns(const int64_t* chosen, int64_t n) const { return {chosen, chosen + n}; }

    double bend(const Column& c) {
        double sum;
        const double* column = x_.column(c.feature);
        kernels().multiply(model_.curvature, column, x_.n_rows, scaled_.data());
        kernels().column_dots(&column, 1, x_.n_rows, scaled_.data(), &sum);
        return sum;
    }

    void bends(const Column* columns, int64_t n, double* out) {
        const double* const* mine = pointers(columns, n);
        for (int64_t i = 1; i < n; ++i) {
            kernels().multiply(model_.curvature, mine[i], x_.n_rows, scaled_.data());
            kernels().column_dots(mine, i, x_.n_rows, scaled_.data(), out + i * n);
        }
    }

    void slopes(const Column* columns, int64_t n, double* out) {
        kernels().column_dots(pointers(columns, n), n, x_.n_rows, curved_.data(), out);
    }

    void move(const Column* columns, int64_t n, const double* by) {
        if (std::all_of(by, by + n, [](double step) { return step == 0; })) return;
        kernels().add_columns(pointers(columns, n), by, n, x_.n_rows, margin_);
        kernels().multiply(model_.curvature, margin_, x_.n_rows, curved_.data());
    }

  private:
    const double* const* pointers(const Column* columns, int64_t n) {
        pointers_.resize(n);
        for (int64_t j = 0; j < n; ++j) pointers_[j] = x_.column(columns[j].feature);
        return pointers_.data();
    }

    const QuadraticModel& model_;
    const DenseColumns& x_;
    double* margin_;
    std::vector<double> curved_, scaled_;  // D Xδ, and D x
    std::vector<const double*> pointers_;
};

}  // namespace parsimon
