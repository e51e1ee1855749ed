// What Python sees of the core's part for parsing: the oracles of trees.
#include "bindings/binding_arrays.hpp"
#include "dependency_trees/arborescences.hpp"

using namespace parsimon;

void bind_arborescences(nb::module_& m) {
    nb::class_<Arborescences>(m, "Arborescences")
        .def(
            "__init__",
            [](Arborescences* self, const In<int64_t>& offsets, bool projective, bool single_root) {
                require(offsets.size() > 0, "offsets must run from 0 to the number of tokens");
                auto tokens = checked_offsets(offsets, offsets(offsets.size() - 1));
                for (size_t i = 0; i + 1 < tokens.size(); ++i)
                    require(tokens[i + 1] - tokens[i] < 1 << 16, "a sentence is too long");
                new (self) Arborescences(std::move(tokens), {projective, single_root});
            },
            "offsets"_a, "projective"_a, "single_root"_a)
        .def_prop_ro("n_arcs", &Arborescences::n_arcs)
        .def(
            "argmax",
            [](const Arborescences& trees, const In<double>& arc, InOut<double> best, InOut<int32_t> heads,
               Threads threads) {
                require(static_cast<int64_t>(arc.size()) == trees.n_arcs(), "there must be one score an arc");
                require(static_cast<int64_t>(best.size()) == trees.n_sentences()
                            && static_cast<int64_t>(heads.size()) == trees.n_tokens(),
                        "there must be one value a sentence and one head a token");
                nb::gil_scoped_release free;
                return trees.best(arc.data(), best.data(), heads.data(), threads);
            },
            "arc"_a, "best"_a.noconvert(), "heads"_a.noconvert(), "threads"_a)
        .def(
            "marginals",
            [](const Arborescences& trees, const In<double>& arc, InOut<double> log_z, InOut<double> out,
               Threads threads) {
                require(static_cast<int64_t>(arc.size()) == trees.n_arcs() && out.size() == arc.size(),
                        "there must be one number an arc");
                require(static_cast<int64_t>(log_z.size()) == trees.n_sentences(),
                        "there must be one value a sentence");
                nb::gil_scoped_release free;
                return trees.log_partition(arc.data(), log_z.data(), out.data(), threads);
            },
            "arc"_a, "log_z"_a.noconvert(), "out"_a.noconvert(), "threads"_a)
        .def(
            "kbest",
            [](const Arborescences& trees, const In<double>& part, int32_t n_labels, InOut2<double> values,
               InOut2<int32_t> choices, Threads threads) {
                require(n_labels > 0 && part.size() % n_labels == 0
                            && static_cast<int64_t>(part.size() / n_labels) == trees.n_arcs(),
                        "there must be one score a part");
                require(values.shape(0) == choices.shape(0)
                            && static_cast<int64_t>(values.shape(1)) == trees.n_sentences()
                            && static_cast<int64_t>(choices.shape(1)) == trees.n_tokens() && values.shape(0) > 0,
                        "values must be k × sentences and choices k × tokens");
                nb::gil_scoped_release free;
                return trees.best_trees(part.data(), n_labels, static_cast<int32_t>(values.shape(0)), values.data(),
                                        choices.data(), threads);
            },
            "part"_a, "n_labels"_a, "values"_a.noconvert(), "choices"_a.noconvert(), "threads"_a);
}
