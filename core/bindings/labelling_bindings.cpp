// What Python sees of labelling straight from what templates see.
#include <optional>

#include "bindings/binding_arrays.hpp"
#include "bindings/extractor_input.hpp"
#include "chains/label_step.hpp"
#include "input/template_weights.hpp"
#include "kernels/kernels.hpp"

using namespace parsimon;

namespace {

struct Given {
    const int32_t* labels = nullptr;

    Given(const std::optional<In<int32_t>>& given, size_t n_tokens, int64_t n_labels) {
        if (!given) return;
        require(given->size() == n_tokens, "there must be one label a token");
        for (size_t t = 0; t < n_tokens; ++t)
            require((*given)(t) >= -1 && (*given)(t) < n_labels, "a label is out of range");
        labels = given->data();
    }
};

// What templates see, of weights that still fit.
struct Read : ExtractorInput {
    Read(const TemplateWeights& w, const In2<int32_t>& inputs, const In2<int32_t>& before, const In2<int32_t>& after,
         const In<int64_t>& offsets)
        : ExtractorInput(inputs, before, after, offsets, 0, w.extractor()) {
        require(w.extractor().n_attributes() == w.n_attributes(), "the extractor has other attributes by now");
    }
    SeenTokens tokens() const { return {inputs, sequences}; }
};

void require_scores(const double* values, size_t n) {
    for (size_t i = 0; i < n; ++i)
        require(values[i] < std::numeric_limits<double>::infinity(), "a score is not a number");
}

}  // namespace

void bind_labelling(nb::module_& m) {
    nb::class_<TemplateWeights>(m, "TemplateWeights")
        .def(
            "__init__",
            [](TemplateWeights* self, const Extractor& extractor, const FeatureRows& features, const In<double>& w) {
                require(extractor.n_inputs() < most_labels, "the input of a test is out of range");
                require(extractor.n_attributes() == features.n_attributes, "there must be a row for every attribute");
                require(static_cast<int64_t>(w.size()) == features.size(), "there must be one weight a feature");
                require(features.width < most_labels, "there must be fewer than 65,536 labels");
                require_finite(w, "a weight is not finite");
                new (self) TemplateWeights(extractor, features, w.data());
            },
            "extractor"_a, "features"_a, "weights"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def_prop_ro("largest", &TemplateWeights::largest)
        .def_prop_ro("n_labels", &TemplateWeights::n_labels)
        .def(
            "scores",
            [](const TemplateWeights& w, const In2<int32_t>& inputs, const In2<int32_t>& before,
               const In2<int32_t>& after, const In<int64_t>& offsets, InOut2<double> out, Threads threads) {
                const Read given(w, inputs, before, after, offsets);
                require(out.shape(0) == inputs.shape(1) && static_cast<int64_t>(out.shape(1)) == w.n_labels(),
                        "scores must be tokens × labels");
                nb::gil_scoped_release free;
                kernels().template_scores(w, given.tokens(), out.data(), threads);
            },
            "inputs"_a, "before"_a, "after"_a, "offsets"_a, "out"_a.noconvert(), "threads"_a);

    nb::class_<LabelStep>(m, "LabelStep")
        .def(
            "__init__",
            [](LabelStep* self, const In2<double>& pair, const In<double>& first, const In<double>& last) {
                const size_t Y = pair.shape(0);
                require(Y > 0 && Y < static_cast<size_t>(most_labels) && pair.shape(1) == Y && first.size() == Y
                            && last.size() == Y,
                        "pair scores must be labels × labels");
                for (const auto& [values, n] : {std::pair{pair.data(), Y * Y}, {first.data(), Y}, {last.data(), Y}})
                    require_scores(values, n);
                new (self) LabelStep(static_cast<int64_t>(Y), pair.data(), first.data(), last.data());
            },
            "pair"_a, "first"_a, "last"_a)
        .def(
            "labels",
            [](const LabelStep& step, const TemplateWeights& w, const In2<int32_t>& inputs, const In2<int32_t>& before,
               const In2<int32_t>& after, const In<int64_t>& offsets, const std::optional<In<int32_t>>& given,
               InOut<int32_t> labels, Threads threads) {
                require(w.n_labels() == step.n_labels, "weights and steps must have the same labels");
                const Read seen(w, inputs, before, after, offsets);
                require(labels.size() == inputs.shape(1), "outputs must have the shape of the scores");
                const Given fixed(given, labels.size(), step.n_labels);
                nb::gil_scoped_release free;
                return kernels().template_labels(w, seen.tokens(), step, fixed.labels, labels.data(), threads);
            },
            "weights"_a, "inputs"_a, "before"_a, "after"_a, "offsets"_a, "given"_a.none(), "labels"_a.noconvert(),
            "threads"_a)
        .def(
            "marginals",
            [](const LabelStep& step, const TemplateWeights& w, const In2<int32_t>& inputs, const In2<int32_t>& before,
               const In2<int32_t>& after, const In<int64_t>& offsets, const std::optional<In<int32_t>>& given,
               InOut2<double> marginals, InOut<double> log_z, Threads threads) {
                require(w.n_labels() == step.n_labels, "weights and steps must have the same labels");
                const Read seen(w, inputs, before, after, offsets);
                require(marginals.shape(0) == inputs.shape(1)
                            && static_cast<int64_t>(marginals.shape(1)) == step.n_labels
                            && log_z.size() + 1 == offsets.size(),
                        "outputs must have the shape of the scores");
                const Given fixed(given, inputs.shape(1), step.n_labels);
                nb::gil_scoped_release free;
                return kernels().template_marginals(w, seen.tokens(), step, fixed.labels, marginals.data(),
                                                    log_z.data(), threads);
            },
            "weights"_a, "inputs"_a, "before"_a, "after"_a, "offsets"_a, "given"_a.none(), "marginals"_a.noconvert(),
            "log_z"_a.noconvert(), "threads"_a);
}
