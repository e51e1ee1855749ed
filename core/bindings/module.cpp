// The module. Only this folder knows Python. Arrays are checked here, once; the rest of the core checks nothing.
#include "bindings/binding_arrays.hpp"
#include "kernels/kernels.hpp"

using namespace parsimon;

void bind_input(nb::module_& m);           // input_bindings.cpp
void bind_maps(nb::module_& m);            // map_bindings.cpp
void bind_chains(nb::module_& m);          // chain_bindings.cpp
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
    bind_chains(m);
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
