// What Python sees of the core's part for max-margin learning: differences of features, and cutting planes.
#include <cmath>

#include "bindings/binding_arrays.hpp"
#include "maps/differences.hpp"
#include "maps/planes.hpp"

using namespace parsimon;

namespace {

// Sparse vectors, one an instance, of features numbered from `offset` on.
using Vectors = std::tuple<int64_t, In<int64_t>, In<int32_t>, In<double>>;

void check(const Vectors& vectors, size_t n_instances, int64_t n_features) {
    const auto& [offset, start, index, value] = vectors;
    const auto starts = checked_offsets(start, static_cast<int64_t>(index.size()));
    require(start.size() == n_instances + 1 && value.size() == index.size(), "there must be one vector an instance");
    require(offset >= 0 && offset <= n_features, "a feature is out of range");
    for (size_t j = 0; j < index.size(); ++j)
        require(index(j) >= 0 && index(j) < n_features - offset, "a feature is out of range");
    require_finite(value, "a feature's value is not finite");
    for (size_t i = 0; i < n_instances; ++i)
        for (int64_t j = starts[i] + 1; j < starts[i + 1]; ++j)
            require(index(j - 1) < index(j), "the features of a vector must ascend");
}

}  // namespace

void bind_planes(nb::module_& m) {
    m.def(
        "feature_differences",
        [](const LinearMap& map, const In<int64_t>& start, const In<int32_t>& row, const In<int32_t>& plus,
           const In<int32_t>& minus, Threads threads) {
            const auto offsets = checked_offsets(start, static_cast<int64_t>(row.size()));
            require(plus.size() == row.size() && minus.size() == row.size(), "there must be two columns a part");
            require(map.features().size() <= INT32_MAX, "there are too many features for vectors of differences");
            for (size_t p = 0; p < row.size(); ++p)
                require(row(p) >= 0 && row(p) < map.rows().size() && plus(p) < map.features().width
                            && minus(p) < map.features().width,
                        "a part is out of range");
            map.rows();  // made under the lock
            SparseVectors out;
            {
                nb::gil_scoped_release free;
                out = feature_differences(
                    map,
                    {static_cast<int64_t>(offsets.size()) - 1, offsets.data(), row.data(), plus.data(), minus.data()},
                    threads);
            }
            return nb::make_tuple(to_numpy(std::move(out.start)), to_numpy(std::move(out.index)),
                                  to_numpy(std::move(out.value)));
        },
        "map"_a, "start"_a, "row"_a, "plus"_a, "minus"_a, "threads"_a,
        "f(one output) − f(another), from the parts at which they differ: sparse vectors, one an instance.");
    m.def(
        "add_outer_products",
        [](const std::vector<std::tuple<int64_t, In<int64_t>, In<int32_t>, In<double>>>& vectors,
           const In<double>& times, InOut2<double> out) {
            const auto n = static_cast<int64_t>(times.size()), K = static_cast<int64_t>(out.shape(0));
            require(static_cast<int64_t>(out.shape(1)) == K, "the matrix must be square");
            std::vector<std::vector<int64_t>> offsets;
            std::vector<GivenVectors> given;
            for (const auto& [first, start, index, value] : vectors) {
                offsets.push_back(checked_offsets(start, static_cast<int64_t>(index.size())));
                require(static_cast<int64_t>(offsets.back().size()) == n + 1 && value.size() == index.size(),
                        "there must be a vector an instance, with a value a feature");
                for (size_t j = 0; j < index.size(); ++j)
                    require(first >= 0 && first <= K && index(j) >= 0 && index(j) < K - first, "no such feature");
                given.push_back({first, offsets.back().data(), index.data(), value.data()});
            }
            nb::gil_scoped_release free;
            add_outer_products(given, n, times.data(), K, out.data());
        },
        "vectors"_a, "times"_a, "out"_a.noconvert(),
        "Adds Σ times · v vᵀ to a matrix; v is an instance's sparse vectors, counted from a first feature each.");

    nb::class_<Planes>(m, "Planes")
        .def(
            "__init__",
            [](Planes* self, const In<double>& scale, const In<double>& mass) {
                require(scale.size() <= static_cast<size_t>(most_numbers), "there are too many features");
                for (size_t k = 0; k < scale.size(); ++k)
                    require(scale(k) >= 0 && std::isfinite(scale(k)), "a scale must not be negative");
                for (size_t i = 0; i < mass.size(); ++i)
                    require(mass(i) >= 0 && std::isfinite(mass(i)), "a mass must not be negative");
                new (self)
                    Planes({scale.data(), scale.data() + scale.size()}, {mass.data(), mass.data() + mass.size()});
            },
            "scale"_a, "mass"_a)
        .def_prop_ro("n_planes", &Planes::n_planes)
        .def_prop_ro("n_support", &Planes::n_support)
        .def(
            "add",
            [](Planes& planes, const In<int64_t>& instance, const In<double>& cost,
               const std::vector<Vectors>& vectors) {
                require(cost.size() == instance.size(), "there must be one cost an instance");
                require_finite(cost, "a cost is not finite");
                for (size_t i = 0; i < instance.size(); ++i)
                    require(instance(i) >= 0 && instance(i) < planes.n_instances(), "no such instance");
                for (const Vectors& each : vectors) check(each, instance.size(), planes.n_features());
                nb::gil_scoped_release free;
                for (size_t i = 0; i < instance.size(); ++i) {
                    std::vector<int32_t> index;
                    std::vector<double> value;
                    for (const auto& [offset, start, of, values] : vectors)
                        for (int64_t j = start(i); j < start(i + 1); ++j) {
                            index.push_back(static_cast<int32_t>(offset + of(j)));
                            value.push_back(values(j));
                        }
                    planes.add(instance(i), cost(i), std::move(index), std::move(value));
                }
            },
            "instance"_a, "cost"_a, "vectors"_a)
        .def(
            "sweep",
            [](Planes& planes, const In<int64_t>& order, int most) {
                for (size_t i = 0; i < order.size(); ++i)
                    require(order(i) >= 0 && order(i) < planes.n_instances(), "no such instance");
                nb::gil_scoped_release free;
                return planes.sweep(order.data(), static_cast<int64_t>(order.size()), most);
            },
            "order"_a, "most"_a)
        .def("prune", &Planes::prune, "idle"_a)
        .def("mark", &Planes::mark, nb::call_guard<nb::gil_scoped_release>())
        .def("advance", &Planes::advance, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "rescale",
            [](Planes& planes, const In<double>& scale) {
                require(static_cast<int64_t>(scale.size()) == planes.n_features(), "there must be one scale a feature");
                for (size_t k = 0; k < scale.size(); ++k)
                    require(scale(k) >= 0 && std::isfinite(scale(k)), "a scale must not be negative");
                nb::gil_scoped_release free;
                planes.rescale({scale.data(), scale.data() + scale.size()});
            },
            "scale"_a)
        .def("refresh", &Planes::refresh)
        .def("dual", &Planes::dual)
        .def(
            "support",
            [](const Planes& planes) {
                std::vector<int64_t> instance, start{0};
                std::vector<double> cost, value;
                std::vector<int32_t> index;
                planes.each_support(
                    [&](int64_t i, double c, const std::vector<int32_t>& of, const std::vector<double>& values) {
                        instance.push_back(i);
                        cost.push_back(c);
                        index.insert(index.end(), of.begin(), of.end());
                        value.insert(value.end(), values.begin(), values.end());
                        start.push_back(static_cast<int64_t>(index.size()));
                    });
                return nb::make_tuple(to_numpy(std::move(instance)), to_numpy(std::move(cost)),
                                      to_numpy(std::move(start)), to_numpy(std::move(index)),
                                      to_numpy(std::move(value)));
            },
            "The planes that have mass: instances, costs, and sparse vectors.")
        .def(
            "weights",
            [](const Planes& planes) { return Out<const double>(planes.weights().data(), {planes.weights().size()}); },
            nb::rv_policy::reference_internal, "What they are now: changes with every sweep.");
}
