// What Python sees of the core's part for vectors that are classified: coordinate descent, and the copies of groups.
#include <cmath>

#include "bindings/binding_arrays.hpp"
#include "learners/coordinate_descent.hpp"
#include "learners/group_copies.hpp"

using namespace parsimon;

void bind_flat(nb::module_& m) {
    m.def(
        "descend_coordinates",
        [](const LinearMap& map, const In2<double>& curvature, const In<double>& gradient, const In<double>& l1,
           const In<double>& pull, const In<double>& centre, const In<int64_t>& active, const In<int64_t>& start,
           const In<int64_t>& member, const In<double>& strength, const In<double>& w, double tol, int most,
           InOut<double> delta, InOut2<double> margin) {
            const auto n = static_cast<size_t>(map.features().size());
            const auto rows = static_cast<size_t>(map.n_rows()), width = static_cast<size_t>(map.features().width);
            require(gradient.size() == n && l1.size() == n && pull.size() == n && centre.size() == n && w.size() == n
                        && delta.size() == n,
                    "there must be one number a feature");
            require(curvature.shape(0) == rows && curvature.shape(1) == width && margin.shape(0) == rows
                        && margin.shape(1) == width,
                    "margins must be rows × columns");
            for (size_t i = 0; i < active.size(); ++i)
                require(active(i) >= 0 && active(i) < static_cast<int64_t>(n) && (!i || active(i) > active(i - 1)),
                        "features must ascend");
            const auto offsets = checked_offsets(start, static_cast<int64_t>(member.size()));
            require(start.size() == strength.size() + 1, "there must be one strength a group");
            for (size_t m = 0; m < strength.size(); ++m)
                for (int64_t i = offsets[m]; i < offsets[m + 1]; ++i)
                    require(member(i) >= 0 && member(i) < static_cast<int64_t>(n)
                                && (i == offsets[m] || member(i) > member(i - 1)),
                            "members must ascend");
            if (!map.dense()) map.attributes();  // made under the lock
            nb::gil_scoped_release free;
            const QuadraticModel model{map, curvature.data(), gradient.data(), l1.data(), pull.data(), centre.data()};
            const ActiveGroups groups{static_cast<int64_t>(strength.size()), offsets.data(), member.data(),
                                      strength.data()};
            return descend_coordinates(model, active.data(), static_cast<int64_t>(active.size()), groups, w.data(),
                                       delta.data(), margin.data(), tol, most);
        },
        "map"_a, "curvature"_a, "gradient"_a, "l1"_a, "pull"_a, "centre"_a, "active"_a, "start"_a, "member"_a,
        "strength"_a, "w"_a, "tol"_a, "most"_a, "delta"_a.noconvert(), "margin"_a.noconvert(),
        "Sweeps of coordinate descent on a quadratic model; the number of sweeps.");

    nb::class_<GroupCopies>(m, "GroupCopies")
        .def(
            "__init__",
            [](GroupCopies* self, const In<int64_t>& start, const In<int32_t>& member, const In<double>& strength,
               int64_t n_features) {
                require(n_features >= 0 && n_features <= most_numbers,
                        "the number of features must be from 0 to 2^31 - 1");
                auto offsets = checked_offsets(start, static_cast<int64_t>(member.size()));
                require(offsets.size() == strength.size() + 1, "there must be one strength a group");
                for (size_t i = 0; i < member.size(); ++i)
                    require(member(i) >= 0 && member(i) < n_features, "a member is out of range");
                for (size_t g = 0; g < strength.size(); ++g)
                    require(strength(g) > 0 && std::isfinite(strength(g)),
                            "the strength of a group must be above zero");
                new (self) GroupCopies(std::move(offsets), {member.data(), member.data() + member.size()},
                                       {strength.data(), strength.data() + strength.size()}, n_features);
            },
            "start"_a, "member"_a, "strength"_a, "n_features"_a)
        .def_prop_ro("n_groups", &GroupCopies::n_groups)
        .def_prop_ro("n_members", &GroupCopies::n_members)
        .def(
            "step",
            [](GroupCopies& c, const In<double>& w, double rho, double relaxation, InOut<double> copies,
               InOut<double> multipliers, Threads threads) {
                const auto n = static_cast<size_t>(c.n_features());
                require(w.size() == n && copies.size() == n && multipliers.size() == n,
                        "there must be one number a feature");
                require(rho > 0 && std::isfinite(rho), "rho must be above zero");
                nb::gil_scoped_release free;
                const auto [apart, v, mw, value] =
                    c.step(w.data(), rho, relaxation, copies.data(), multipliers.data(), threads);
                return std::make_tuple(apart, v, mw, value);
            },
            "w"_a, "rho"_a, "relaxation"_a, "copies"_a.noconvert(), "multipliers"_a.noconvert(), "threads"_a)
        .def(
            "rescale",
            [](GroupCopies& c, double factor) {
                require(factor > 0 && std::isfinite(factor), "the factor must be above zero");
                c.rescale(factor);
            },
            "factor"_a)
        .def(
            "gauge",
            [](const GroupCopies& c, double rho, const In<double>& shift, Threads threads) {
                require(static_cast<int64_t>(shift.size()) == c.n_features(), "there must be one number a feature");
                nb::gil_scoped_release free;
                return c.n_groups() ? c.gauge(rho, shift.data(), threads) : 0.0;
            },
            "rho"_a, "shift"_a, "threads"_a)
        .def(
            "norms",
            [](const GroupCopies& c, double rho) {
                require(rho > 0, "rho must be above zero");
                return to_numpy(c.norms(rho));
            },
            "rho"_a);
}
