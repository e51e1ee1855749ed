// The module. Only this folder knows Python. Arrays are checked here, once; the rest of the core checks nothing.
#include "bindings/binding_arrays.hpp"
#include "kernels/kernels.hpp"
#include "kernels/low_rank_quadratic.hpp"
#include "learners/group_descent.hpp"

using namespace parsimon;

void bind_input(nb::module_& m);           // input_bindings.cpp
void bind_labelling(nb::module_& m);       // labelling_bindings.cpp
void bind_maps(nb::module_& m);            // map_bindings.cpp
void bind_chains(nb::module_& m);          // chain_bindings.cpp
void bind_second_order(nb::module_& m);    // second_order_bindings.cpp
void bind_chain_learners(nb::module_& m);  // chain_learner_bindings.cpp
void bind_arborescences(nb::module_& m);   // arborescence_bindings.cpp
void bind_arcs(nb::module_& m);            // arc_feature_bindings.cpp
void bind_flat(nb::module_& m);            // flat_bindings.cpp
void bind_planes(nb::module_& m);          // plane_bindings.cpp
void bind_graphs(nb::module_& m);          // graph_bindings.cpp
void bind_trees(nb::module_& m);           // tree_bindings.cpp
void bind_log_loss(nb::module_& m);        // log_loss_bindings.cpp
void bind_quadratic(nb::module_& m);       // quadratic_bindings.cpp

NB_MODULE(_core, m) {
    nb::set_leak_warnings(false);  // what Python keeps until the very end is no leak of ours
    m.doc() = "Parsimon's compiled core: interning, template expansion, sparse maps, dynamic programs.";
    m.def("instruction_set", [] { return kernels().name; }, "The build of the hot loops in use on this processor.");

    bind_input(m);
    bind_maps(m);
    bind_labelling(m);  // of what has been bound before
    bind_chains(m);
    bind_second_order(m);
    bind_chain_learners(m);
    bind_arborescences(m);
    bind_arcs(m);
    bind_flat(m);
    bind_planes(m);
    bind_graphs(m);
    bind_trees(m);
    bind_log_loss(m);
    bind_quadratic(m);

    m.def(
        "descend_groups",
        [](const In<double>& gradient, const In<double>& diagonal, const In2<double>& pairs, const In2<double>& middle,
           const In2<double>& inverse, const In<double>& w, const In<double>& l1, const In<int64_t>& start,
           const In<int64_t>& member, const In<double>& strength, double tol, int rounds, InOut<double> d,
           Threads threads) {
            const size_t n = w.size(), rank = middle.shape(0);
            require(
                gradient.size() == n && diagonal.size() == n && l1.size() == n && d.size() == n && pairs.shape(0) == n,
                "one number a weight");
            require(rank % 2 == 0 && pairs.shape(1) >= rank && middle.shape(1) == rank && inverse.shape(0) == rank
                        && inverse.shape(1) == rank,
                    "matrices must be rank × rank, and the rank two for every pair");
            const auto offsets = checked_offsets(start, static_cast<int64_t>(member.size()));
            require(start.size() == strength.size() + 1, "there must be one strength a group");
            for (size_t i = 0; i < member.size(); ++i)
                require(member(i) >= 0 && member(i) < static_cast<int64_t>(n), "a member is out of range");
            nb::gil_scoped_release free;
            const PairedQuadratic q{static_cast<int64_t>(n),
                                    static_cast<int64_t>(rank),
                                    static_cast<int64_t>(pairs.shape(1)),
                                    gradient.data(),
                                    diagonal.data(),
                                    pairs.data(),
                                    middle.data(),
                                    inverse.data()};
            const ActiveGroups groups{static_cast<int64_t>(strength.size()), offsets.data(), member.data(),
                                      strength.data()};
            GroupDescent descent(q, groups, w.data(), l1.data(), threads);
            const int done = descent.run(tol, rounds);
            descent.put(d.data());
            return done;
        },
        "gradient"_a, "diagonal"_a, "pairs"_a, "middle"_a, "inverse"_a, "w"_a, "l1"_a, "start"_a, "member"_a,
        "strength"_a, "tol"_a, "rounds"_a, "d"_a.noconvert(), "threads"_a,
        "Block coordinate descent and Newton steps on such a quadratic with the norms of groups; the number of "
        "rounds.");

    m.def(
        "dot",
        [](const In<double>& a, const In<double>& b) {
            require(a.size() == b.size(), "vectors must be of one length");
            nb::gil_scoped_release free;
            return kernels().dot(a.data(), b.data(), static_cast<int64_t>(a.size()));
        },
        "a"_a, "b"_a, "The inner product, summed in a fixed order.");
    m.def(
        "exponentials", [](InOut<double> x) { kernels().exponentials(x.data(), static_cast<int64_t>(x.size())); },
        "x"_a.noconvert());
}
