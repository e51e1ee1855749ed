// What Python sees of the core's part for parsing: the features of arcs, and learning them online.
#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <memory>
#include <tuple>

#include "bindings/binding_arrays.hpp"
#include "bindings/online_bindings.hpp"
#include "dependency_trees/arc_scorer.hpp"
#include "learners/online_arcs.hpp"

using namespace parsimon;

namespace {

// Templates from rows (where, offset, column), one a test.
std::vector<ArcTemplate> templates_of(const In<int64_t>& start, const In2<int32_t>& tests) {
    require(tests.shape(1) == 3, "a test is a place, an offset and a column");
    const auto bounds = checked_offsets(start, static_cast<int64_t>(tests.shape(0)));
    std::vector<ArcTemplate> out(bounds.size() - 1);
    for (size_t t = 0; t < out.size(); ++t) {
        require(bounds[t + 1] - bounds[t] <= ArcTemplate::most_tests, "a template has too many tests");
        for (int64_t k = bounds[t]; k < bounds[t + 1]; ++k) {
            const int32_t place = tests(k, 0), offset = tests(k, 1), column = tests(k, 2);
            require(place >= 0 && place <= 4 && offset > -(1 << 10) && offset < 1 << 10 && column >= 0, "no such test");
            if (place == ArcTemplate::at_head || place == ArcTemplate::at_modifier)
                out[t].side[place].push_back({offset, column});
            else if (place == ArcTemplate::at_between)
                require(out[t].between < 0, "one test of tokens between is enough"), out[t].between = column;
            else (place == ArcTemplate::of_direction ? out[t].direction : out[t].length) = true;
        }
    }
    return out;
}

void check_columns(const ArcTemplate& what, int64_t n_columns) {
    require(what.between < n_columns, "a template looks at a column that is not there");
    for (const auto& side : what.side)
        for (const ArcTest& test : side)
            require(test.column < n_columns, "a template looks at a column that is not there");
}

void check_columns(const ArcDictionary& dictionary, const ArcSentences& sentences) {
    for (int32_t t = 0; t < dictionary.n_templates(); ++t) check_columns(dictionary[t], sentences.n_columns());
}

void check_heads(const ArcSentences& sentences, int64_t first, int64_t last, const In<int32_t>& heads, int32_t least) {
    require(first >= 0 && first <= last && last <= sentences.size(), "there are no such sentences");
    const auto& offsets = sentences.offsets();
    require(static_cast<int64_t>(heads.size()) == offsets[last] - offsets[first], "one head a token");
    for (int64_t i = first; i < last; ++i)
        for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
            const int32_t h = heads(k - offsets[first]);
            require(h >= least && h <= sentences.length(i) && h != k - offsets[i] + 1, "a head is out of range");
        }
}

int64_t arcs_between(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last) {
    require(first >= 0 && first <= last && last <= sentences.size(), "there are no such sentences");
    check_columns(dictionary, sentences);
    return sentences.arcs()[last] - sentences.arcs()[first];
}

void check_features(const ArcDictionary& dictionary, const In<int64_t>& features) {
    for (size_t k = 0; k < features.size(); ++k)
        require(features(k) >= (k ? features(k - 1) + 1 : 0) && features(k) < dictionary.size(),
                "features must ascend, and be there");
}

// The values of the tests of all attributes, so many of each template.
void check_values(const std::vector<ArcTemplate>& templates, const In<int64_t>& counts, const In<int32_t>& values) {
    require(counts.size() == templates.size(), "one count a template");
    int64_t needed = 0;
    for (size_t t = 0; t < templates.size(); ++t) {
        require(counts(t) >= 0 && counts(t) < int64_t{1} << 31, "counts must not be negative");
        require(counts(t) <= 1 || templates[t].n_tests() > 0, "a template without tests has one attribute at most");
        needed += counts(t) * templates[t].n_tests();
    }
    require(needed == static_cast<int64_t>(values.size()), "one value a test of every attribute");
}

}  // namespace

void bind_arcs(nb::module_& m) {
    nb::class_<ArcSentences>(m, "ArcSentences")
        .def(
            "__init__",
            [](ArcSentences* self, const In<int64_t>& offsets, const std::vector<In<int32_t>>& values,
               const std::vector<std::optional<In<int64_t>>>& starts) {
                require(offsets.size() > 0 && values.size() == starts.size(),
                        "offsets, and for every column values and where they start");
                auto tokens = checked_offsets(offsets, offsets(offsets.size() - 1));
                for (size_t i = 0; i + 1 < tokens.size(); ++i)
                    require(tokens[i + 1] - tokens[i] < 1 << 15, "a sentence is too long");
                std::vector<ArcColumn> columns;
                for (size_t c = 0; c < values.size(); ++c) {
                    ArcColumn column;
                    column.value.assign(values[c].data(), values[c].data() + values[c].size());
                    for (const int32_t v : column.value)
                        require(v == ArcSentences::unknown || v > ArcSentences::after, "no such value");
                    if (starts[c]) column.start = checked_offsets(*starts[c], static_cast<int64_t>(values[c].size()));
                    require(static_cast<int64_t>(starts[c] ? column.start.size() - 1 : column.value.size())
                                == tokens.back(),
                            "every token needs its values");
                    columns.push_back(std::move(column));
                }
                new (self) ArcSentences(std::move(tokens), std::move(columns));
            },
            "offsets"_a, "values"_a, "starts"_a)
        .def(
            "only",
            [](const ArcSentences& sentences, const In<int64_t>& start, const In<int32_t>& heads) {
                auto starts = checked_offsets(start, static_cast<int64_t>(heads.size()));
                const auto& offsets = sentences.offsets();
                require(static_cast<int64_t>(starts.size()) == offsets.back() + 1, "every token needs its heads");
                for (int64_t i = 0; i < sentences.size(); ++i)
                    for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
                        for (int64_t j = starts[k]; j < starts[k + 1]; ++j)
                            require(heads(j) > (j > starts[k] ? heads(j - 1) : -1) && heads(j) <= sentences.length(i)
                                        && heads(j) != k - offsets[i] + 1,
                                    "heads must ascend, and be other tokens of the sentence or the root");
                return std::make_shared<ArcSentences>(
                    sentences.only(std::move(starts), {heads.data(), heads.data() + heads.size()}));
            },
            "start"_a, "heads"_a)
        .def("__len__", &ArcSentences::size);

    nb::class_<ArcDictionary>(m, "ArcDictionary")
        .def_static(
            "supported",
            [](const In<int64_t>& start, const In2<int32_t>& tests, const ArcSentences& sentences,
               const In<int32_t>& heads, int32_t cutoff, Threads threads) {
                require(cutoff >= 1, "the cut-off must be at least 1");
                auto templates = templates_of(start, tests);
                check_columns(ArcDictionary(templates), sentences);
                check_heads(sentences, 0, sentences.size(), heads, -1);
                nb::gil_scoped_release free;
                return std::make_shared<ArcDictionary>(
                    ArcDictionary::supported(std::move(templates), sentences, heads.data(), cutoff, threads));
            },
            "start"_a, "tests"_a, "sentences"_a, "heads"_a, "cutoff"_a, "threads"_a)
        .def(
            "__init__",
            [](ArcDictionary* self, const In<int64_t>& start, const In2<int32_t>& tests, const In<int64_t>& counts,
               const In<int32_t>& values) {
                auto templates = templates_of(start, tests);
                check_values(templates, counts, values);
                new (self) ArcDictionary(ArcDictionary::of_values(std::move(templates), counts.data(), values.data()));
            },
            "start"_a, "tests"_a, "counts"_a, "values"_a)
        .def("__len__", &ArcDictionary::size)
        .def("starts",
             [](const ArcDictionary& dictionary) { return to_numpy(std::vector<int64_t>(dictionary.first())); })
        .def(
            "restrict",
            [](const ArcDictionary& dictionary, const In<int64_t>& features) {
                check_features(dictionary, features);
                nb::gil_scoped_release free;
                return std::make_shared<ArcDictionary>(
                    dictionary.restricted(features.data(), static_cast<int64_t>(features.size())));
            },
            "features"_a)
        .def(
            "values",
            [](const ArcDictionary& dictionary, const ArcSentences& sentences, const In<int32_t>& heads,
               Threads threads) {
                check_columns(dictionary, sentences);
                check_heads(sentences, 0, sentences.size(), heads, -1);
                std::vector<int32_t> out;
                bool all;
                {
                    nb::gil_scoped_release free;
                    all = dictionary.values(sentences, heads.data(), out, threads);
                }
                require(all, "an attribute does not fire on these arcs");
                return to_numpy(std::move(out));
            },
            "sentences"_a, "heads"_a, "threads"_a)
        .def(
            "scores",
            [](const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
               const In<double>& w, InOut<double> out, Threads threads) {
                require(static_cast<int64_t>(out.size()) == arcs_between(dictionary, sentences, first, last),
                        "one score an arc");
                require(static_cast<int64_t>(w.size()) == dictionary.size(), "one weight a feature");
                nb::gil_scoped_release free;
                arc_scores(dictionary, sentences, first, last, w.data(), out.data(), threads);
            },
            "sentences"_a, "first"_a, "last"_a, "w"_a, "out"_a.noconvert(), "threads"_a)
        .def(
            "pullback",
            [](const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
               const In<double>& parts, InOut<double> out, Threads threads) {
                require(static_cast<int64_t>(parts.size()) == arcs_between(dictionary, sentences, first, last),
                        "one number an arc");
                require(static_cast<int64_t>(out.size()) == dictionary.size(), "one number a feature");
                nb::gil_scoped_release free;
                arc_pullback(dictionary, sentences, first, last, parts.data(), out.data(), threads);
            },
            "sentences"_a, "first"_a, "last"_a, "parts"_a, "out"_a.noconvert(), "threads"_a)
        .def(
            "attributes",
            [](const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
               const In<int32_t>& heads, Threads threads) {
                arcs_between(dictionary, sentences, first, last);
                check_heads(sentences, first, last, heads, -1);
                std::vector<int64_t> start;
                std::vector<int32_t> index;
                {
                    nb::gil_scoped_release free;
                    std::tie(start, index) = arc_attributes(dictionary, sentences, first, last, heads.data(), threads);
                }
                return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(index)));
            },
            "sentences"_a, "first"_a, "last"_a, "heads"_a, "threads"_a);

    nb::class_<ArcScorer>(m, "ArcScorer")
        .def(
            "__init__",
            [](ArcScorer* self, const In<int64_t>& start, const In2<int32_t>& tests, const In<int64_t>& counts,
               const In<int32_t>& values, const In<double>& w, const std::vector<bool>& many, Threads threads) {
                const auto templates = templates_of(start, tests);
                check_values(templates, counts, values);
                for (const ArcTemplate& each : templates) check_columns(each, static_cast<int64_t>(many.size()));
                int64_t n = 0;
                for (size_t t = 0; t < counts.size(); ++t) n += counts(t);
                require(static_cast<int64_t>(w.size()) == n, "one weight a feature");
                nb::gil_scoped_release free;
                new (self) ArcScorer(templates, counts.data(), values.data(), w.data(), many, threads);
            },
            "start"_a, "tests"_a, "counts"_a, "values"_a, "w"_a, "many"_a, "threads"_a)
        .def(
            "scores",
            [](const ArcScorer& scorer, const ArcSentences& sentences, int64_t first, int64_t last, InOut<double> out,
               Threads threads) {
                require(first >= 0 && first <= last && last <= sentences.size(), "there are no such sentences");
                require(scorer.n_columns() <= sentences.n_columns(), "a template looks at a column that is not there");
                require(static_cast<int64_t>(out.size()) == sentences.arcs()[last] - sentences.arcs()[first],
                        "one score an arc");
                nb::gil_scoped_release free;
                scorer.scores(sentences, first, last, out.data(), threads);
            },
            "sentences"_a, "first"_a, "last"_a, "out"_a.noconvert(), "threads"_a);

    auto online = bind_learner<OnlineArcs>(m, "OnlineArcs");
    online
        .def(
            "__init__",
            [](OnlineArcs* self, std::shared_ptr<ArcDictionary> dictionary, bool projective, bool single_root,
               const In<int32_t>& block, int64_t n_blocks) {
                check_blocks(block, dictionary->size(), n_blocks);
                const auto one = std::make_shared<FeatureRows>(), none = std::make_shared<FeatureRows>();
                one->width = none->width = 1;
                one->n_attributes = dictionary->size();
                new (self) OnlineArcs(ArcInstances(std::move(dictionary), {projective, single_root}),
                                      OnlineWeights(one, none, block.data(), nullptr, n_blocks));
            },
            "dictionary"_a, "projective"_a, "single_root"_a, "block"_a, "n_blocks"_a)
        .def(
            "add",
            [](OnlineArcs& learner, std::shared_ptr<ArcSentences> sentences, int64_t first, int64_t last,
               const In<int32_t>& gold, const std::optional<In<double>>& weights) {
                check_columns(learner.instances().dictionary(), *sentences);
                check_heads(*sentences, first, last, gold, 0);
                std::vector<double> weight;
                if (weights) {
                    require(static_cast<int64_t>(weights->size()) == last - first, "one weight a sentence");
                    weight.assign(weights->data(), weights->data() + weights->size());
                    for (const double each : weight) require(std::isfinite(each), "weights must be finite");
                }
                learner.add(
                    {std::move(sentences), first, last, {gold.data(), gold.data() + gold.size()}, std::move(weight)});
            },
            "sentences"_a, "first"_a, "last"_a, "gold"_a, "weights"_a.none());
    bind_online(online);
}
