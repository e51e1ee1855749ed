// What Python sees of the core's sparse linear maps, and of how label pairs are laid out.
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include <nanobind/stl/shared_ptr.h>

#include "bindings/binding_arrays.hpp"
#include "chains/pair_layout.hpp"
#include "kernels/kernels.hpp"
#include "maps/linear_map.hpp"

using namespace parsimon;

namespace {

Csr checked_csr(const In<int64_t>& start, const In<int32_t>& index, const std::optional<In<double>>& value,
                int64_t n_columns) {
    Csr csr;
    csr.start = checked_offsets(start, static_cast<int64_t>(index.size()));
    require(csr.size() <= most_numbers, "there are too many rows");
    csr.index.assign(index.data(), index.data() + index.size());
    int32_t low = 0, high = -1;
    for (const int32_t a : csr.index) {
        low = std::min(low, a);
        high = std::max(high, a);
    }
    require(low >= 0 && high < n_columns, "an attribute number is out of range");
    if (value) {
        require(value->size() == index.size(), "there must be a value for every entry");
        csr.value.assign(value->data(), value->data() + value->size());
        for (const double v : csr.value) require(std::isfinite(v), "a feature value is not finite");
    }
    return csr;
}

void check_sizes(int64_t n_attributes, int64_t width) {
    require(n_attributes >= 0 && n_attributes <= most_numbers, "the number of attributes must be from 0 to 2^31 - 1");
    require(width > 0 && width <= most_numbers, "a map must have from 1 to 2^31 - 1 columns");
}

FeatureRows checked_features(int64_t n_attributes, int64_t width, const std::optional<In<int64_t>>& start,
                             const std::optional<In<int32_t>>& column) {
    check_sizes(n_attributes, width);
    require(start.has_value() == column.has_value(), "columns need their starts, and starts their columns");
    FeatureRows out;
    out.n_attributes = n_attributes;
    out.width = width;
    out.all = !start;
    if (out.all) return out;
    require(static_cast<int64_t>(start->size()) == n_attributes + 1, "one start per attribute and an end");
    out.start = checked_offsets(*start, static_cast<int64_t>(column->size()));
    out.column.assign(column->data(), column->data() + column->size());
    for (const int32_t c : out.column) require(c >= 0 && c < width, "a column is out of range");
    for (int64_t a = 0; a < n_attributes; ++a) {
        const auto first = out.column.begin() + out.start[a], last = out.column.begin() + out.start[a + 1];
        require(std::adjacent_find(first, last, std::greater_equal<>()) == last,
                "the columns of an attribute must ascend");
    }
    return out;
}

}  // namespace

void bind_maps(nb::module_& m) {
    nb::class_<FeatureRows>(m, "FeatureRows")
        .def(
            "__init__",
            [](FeatureRows* self, int64_t n_attributes, int64_t width, const std::optional<In<int64_t>>& start,
               const std::optional<In<int32_t>>& column) {
                new (self) FeatureRows(checked_features(n_attributes, width, start, column));
            },
            "n_attributes"_a, "width"_a, "start"_a = nb::none(), "column"_a = nb::none())
        .def_ro("n_attributes", &FeatureRows::n_attributes)
        .def_ro("width", &FeatureRows::width)
        .def_prop_ro("n_features", &FeatureRows::size)
        // The first feature of each attribute, and one past the last.
        .def("starts",
             [](const FeatureRows& f) {
                 if (!f.all) return to_numpy(std::vector<int64_t>(f.start));
                 std::vector<int64_t> start(f.n_attributes + 1);
                 for (int64_t a = 0; a <= f.n_attributes; ++a) start[a] = a * f.width;
                 return to_numpy(std::move(start));
             })
        // Attribute and column of each of the given features.
        .def(
            "describe",
            [](const FeatureRows& f, const In<int64_t>& features) {
                std::vector<int64_t> attribute(features.size());
                std::vector<int32_t> column(features.size());
                for (size_t i = 0; i < features.size(); ++i) {
                    const int64_t k = features(i);
                    require(k >= 0 && k < f.size(), "no such feature");
                    attribute[i] =
                        f.all ? k / f.width : std::upper_bound(f.start.begin(), f.start.end(), k) - f.start.begin() - 1;
                    column[i] = f.all ? static_cast<int32_t>(k % f.width) : f.column[k];
                }
                return nb::make_tuple(to_numpy(std::move(attribute)), to_numpy(std::move(column)));
            },
            "features"_a)
        // The feature of each (attribute, column), −1 where there is none.
        .def(
            "find",
            [](const FeatureRows& f, const In<int64_t>& attribute, const In<int32_t>& column) {
                require(attribute.size() == column.size(), "one column an attribute");
                std::vector<int64_t> out(attribute.size(), -1);
                for (size_t i = 0; i < out.size(); ++i) {
                    const int64_t a = attribute(i);
                    const int32_t c = column(i);
                    if (a < 0 || a >= f.n_attributes || c < 0 || c >= f.width) continue;
                    if (f.all) {
                        out[i] = a * f.width + c;
                        continue;
                    }
                    const auto first = f.column.begin() + f.start[a], last = f.column.begin() + f.start[a + 1];
                    const auto at = std::lower_bound(first, last, c);
                    if (at != last && *at == c) out[i] = at - f.column.begin();
                }
                return to_numpy(std::move(out));
            },
            "attribute"_a, "column"_a);

    nb::class_<LinearMap>(m, "LinearMap")
        .def(
            "__init__",
            [](LinearMap* self, const In<int64_t>& start, const In<int32_t>& index,
               const std::optional<In<double>>& value, std::shared_ptr<FeatureRows> features) {
                require(features != nullptr, "a map needs features");
                Csr rows = checked_csr(start, index, value, features->n_attributes);
                new (self) LinearMap(std::move(rows), std::move(features));
            },
            "start"_a, "index"_a, "value"_a.none(), "features"_a)
        .def_static(
            "dense",
            [](const In2<double>& columns) {
                const auto n_columns = static_cast<int64_t>(columns.shape(0)),
                           n_rows = static_cast<int64_t>(columns.shape(1));
                require(n_columns <= most_numbers && n_rows <= most_numbers, "a matrix is too large");
                const std::shared_ptr<const double> values(columns.data(), [columns](const double*) {});
                return LinearMap(DenseColumns{n_rows, n_columns, values});
            },
            "columns"_a, "A matrix without gaps, by columns, which is kept as it is; one column of scores.")
        .def_prop_ro("n_rows", &LinearMap::n_rows)
        .def_prop_ro("n_features", [](const LinearMap& map) { return map.features().size(); })
        .def_prop_ro("n_entries", &LinearMap::n_entries)
        .def(
            "row_sizes",
            [](const LinearMap& map) {
                std::vector<int64_t> sizes(map.rows().size());
                for (int64_t r = 0; r < map.rows().size(); ++r)
                    sizes[r] = map.rows().start[r + 1] - map.rows().start[r];
                return to_numpy(std::move(sizes));
            },
            "How many attributes fire on each row.")
        .def_prop_ro(
            "features", [](const LinearMap& map) -> const FeatureRows& { return map.features(); },
            nb::rv_policy::reference_internal)
        .def(
            "restrict",
            [](const LinearMap& map, const In<int64_t>& features, Threads threads) {
                nb::gil_scoped_release free;
                return map.restrict(features.data(), static_cast<int64_t>(features.size()), threads);
            },
            "features"_a, "threads"_a = 1)
        .def(
            "take",
            [](const LinearMap& map, const In<int64_t>& rows) {
                for (size_t i = 0; i < rows.size(); ++i)
                    require(rows(i) >= 0 && rows(i) < map.n_rows(), "a row is out of range");
                nb::gil_scoped_release free;
                return map.take(rows.data(), static_cast<int64_t>(rows.size()));
            },
            "rows"_a)
        .def(
            "scores",
            [](const LinearMap& map, const In<double>& w, InOut2<double> out, Threads threads) {
                require(static_cast<int64_t>(w.size()) == map.features().size(), "there must be one weight a feature");
                require(static_cast<int64_t>(out.shape(0)) == map.n_rows()
                            && static_cast<int64_t>(out.shape(1)) == map.features().width,
                        "scores must be rows × columns");
                if (!map.features().all) map.whole_attributes();  // made under the lock
                nb::gil_scoped_release free;
                kernels().scores(map, w.data(), out.data(), threads);
            },
            "w"_a, "out"_a.noconvert(), "threads"_a)
        .def(
            "pullback",
            [](const LinearMap& map, const In2<double>& mu, InOut<double> out, Threads threads, bool squared) {
                require(static_cast<int64_t>(out.size()) == map.features().size(), "there must be one place a feature");
                require(static_cast<int64_t>(mu.shape(0)) == map.n_rows()
                            && static_cast<int64_t>(mu.shape(1)) == map.features().width,
                        "marginals must be rows × columns");
                if (!map.dense()) map.attributes();  // made under the lock
                nb::gil_scoped_release free;
                kernels().pullback(map, mu.data(), out.data(), squared, threads);
            },
            "mu"_a, "out"_a.noconvert(), "threads"_a, "squared"_a = false);

    m.def(
        "restrict_maps",
        [](const std::vector<const LinearMap*>& maps, const In<int64_t>& features, Threads threads) {
            for (const LinearMap* map : maps)
                require(map && map->features() == maps[0]->features(), "the maps must have the same features");
            std::vector<std::optional<LinearMap>> fewer(maps.size());
            if (!maps.empty()) {
                nb::gil_scoped_release free;
                const FewerFeatures chosen(maps[0]->features(), features.data(), static_cast<int64_t>(features.size()));
                parallel_for(static_cast<int64_t>(maps.size()), threads,
                             [&](int64_t i, int) { fewer[i] = maps[i]->restrict(chosen, 1); });
            }
            nb::list out;
            for (auto& each : fewer) out.append(nb::cast(std::move(*each)));
            return out;
        },
        "maps"_a, "features"_a, "threads"_a,
        "Several maps of the same features restricted to some of them, which they share.");
    m.def(
        "seen_features",
        [](const In<int64_t>& start, const In<int32_t>& index, const In<int32_t>& column, int64_t n_attributes,
           int64_t width) {
            check_sizes(n_attributes, width);
            require(start.size() == column.size() + 1, "one column a row");
            for (size_t r = 0; r < column.size(); ++r) require(column(r) < width, "a column is out of range");
            return seen_features(checked_csr(start, index, std::nullopt, n_attributes), column.data(), n_attributes,
                                 width);
        },
        "start"_a, "index"_a, "column"_a, "n_attributes"_a, "width"_a,
        "The columns that each attribute meets (-1 in a row is none).");
    m.def(
        "distinct_rows",
        [](const In<int64_t>& start, const In<int32_t>& index, const std::optional<In<double>>& value) {
            Csr rows = checked_csr(start, index, value, std::numeric_limits<int32_t>::max());
            auto [distinct, which] = distinct_rows(rows);
            nb::object values = nb::none();
            if (!distinct.value.empty()) values = nb::cast(to_numpy(std::move(distinct.value)));
            return nb::make_tuple(to_numpy(std::move(distinct.start)), to_numpy(std::move(distinct.index)), values,
                                  to_numpy(std::move(which)));
        },
        "start"_a, "index"_a, "value"_a.none(), "The distinct rows, and which one each row is.");

    m.def(
        "lay_out",
        [](const LinearMap& steps, const In<int32_t>& row, int64_t n_labels, bool whole, Threads threads) {
            require(n_labels > 0 && n_labels < most_labels && (whole || steps.features().width == n_labels * n_labels),
                    "features must be of pairs of labels");
            require(row.size() <= static_cast<size_t>(most_numbers), "there are too many tokens for one batch");
            std::vector<int32_t> rows(row.data(), row.data() + row.size());
            for (const int32_t r : rows) require(r >= 0 && r < steps.rows().size(), "a step's row is out of range");
            nb::gil_scoped_release free;
            PairLayout out = LayoutMaker(steps, rows, n_labels).make(steps.shared_features(), whole, threads);
            nb::gil_scoped_acquire hold;
            return nb::make_tuple(to_numpy(std::move(out.kind)), std::move(out.matrices), to_numpy(std::move(out.row)),
                                  to_numpy(std::move(out.row_kind)), to_numpy(std::move(out.single_start)),
                                  to_numpy(std::move(out.single)), std::move(out.sums));
        },
        "steps"_a, "row"_a, "n_labels"_a, "whole"_a, "threads"_a,
        "Which attributes of steps go into matrices, and which stay single pairs.");
}
