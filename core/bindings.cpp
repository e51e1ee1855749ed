// The files named bindings alone know Python. Arrays are checked here, once; inside the core nothing is.
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "binding_arrays.hpp"
#include "block_descent.hpp"
#include "chain_batch.hpp"
#include "columns.hpp"
#include "extractor.hpp"
#include "kernels.hpp"
#include "linear_map.hpp"
#include "online_bindings.hpp"
#include "online_chains.hpp"
#include "pair_layout.hpp"
#include "strings.hpp"

using namespace parsimon;

void bind_arborescences(nb::module_& m);  // arborescence_bindings.cpp
void bind_arcs(nb::module_& m);           // arc_bindings.cpp
void bind_flat(nb::module_& m);           // flat_bindings.cpp
void bind_graphs(nb::module_& m);         // graph_bindings.cpp
void bind_planes(nb::module_& m);         // plane_bindings.cpp
void bind_trees(nb::module_& m);          // tree_bindings.cpp

namespace {

Csr checked_csr(const In<int64_t>& start, const In<int32_t>& index, const std::optional<In<double>>& value,
                int64_t n_columns) {
    Csr csr;
    csr.start = checked_offsets(start, static_cast<int64_t>(index.size()));
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

// What an extractor reads, checked.
struct ExtractorInput {
    std::vector<int64_t> offsets;
    std::vector<Extractor::Input> inputs;
    Extractor::Sequences sequences;

    ExtractorInput(const In2<int32_t>& ids, const In2<int32_t>& before, const In2<int32_t>& after, const In<int64_t>& starts,
                   int32_t skip)
        : offsets(checked_offsets(starts, static_cast<int64_t>(ids.shape(1)))) {
        require(before.shape(0) == ids.shape(0) && after.shape(0) == ids.shape(0) && before.shape(1) == after.shape(1)
                    && before.shape(1) > 0, "boundary values must be inputs × reach");
        for (size_t i = 0; i < ids.shape(0); ++i)
            inputs.push_back({ids.data() + i * ids.shape(1), before.data() + i * before.shape(1), after.data() + i * after.shape(1)});
        sequences = {offsets.data(), static_cast<int64_t>(offsets.size()) - 1, static_cast<int32_t>(before.shape(1)), skip};
    }
};

// Learners on chains and trees get maps of tokens and of steps.
template <class Learner>
nb::class_<Learner> bind_chain_rounds(nb::module_& m, const char* name) {
    return bind_rounds<Learner>(m, name)
        .def("add", [](Learner& learner, const LinearMap& node, const LinearMap& pair, const In<int32_t>& row, const Chain& chain,
                       const In<int32_t>& gold) {
            chain.check_labels(gold);
            require(node.rows().size() == static_cast<int64_t>(chain.pair_kind.size()) && row.size() == chain.pair_kind.size(),
                    "the maps must have a row a token");
            for (size_t t = 0; t < row.size(); ++t) require(row(t) >= 0 && row(t) < pair.rows().size(), "a step's row is out of range");
            require(node.features().n_attributes == learner.weights().part(0).n_attributes()
                        && pair.features().n_attributes == learner.weights().part(1).n_attributes(),
                    "the maps must have the learner's attributes");
            learner.add({node, pair, chain.offsets, {row.data(), row.data() + row.size()}, {gold.data(), gold.data() + gold.size()}, chain.weight,
                         chain.forest});
        }, "node"_a, "pair"_a, "row"_a, "chain"_a, "gold"_a);
}

void check_columns(int32_t n_labels, const FeatureRows& node, const FeatureRows& pair) {
    require(n_labels > 0 && node.width == n_labels && pair.width == static_cast<int64_t>(n_labels) * n_labels,
            "features must be of labels and of pairs of labels");
}

// Feature dictionaries in the manner of CRFsuite → rows of attributes: {"w": "the"} is the attribute w:the,
// {"bias": 1.0} is bias with that value, True is 1 and False 0, a plain string is an attribute of value 1,
// and nested dictionaries, lists and sets put their name and a colon in front.
class ItemCollector {
  public:
    ItemCollector(StringTable& names, bool learn) : names_(names), learn_(learn) { rows_.start.push_back(0); }

    void token(nb::handle item) {
        prefix_.clear();
        visit(item);
        rows_.start.push_back(static_cast<int64_t>(rows_.index.size()));
    }

    Csr finish() {
        if (std::all_of(rows_.value.begin(), rows_.value.end(), [](double v) { return v == 1.0; })) rows_.value.clear();
        return std::move(rows_);
    }

  private:
    static std::string_view text_of(nb::handle h) {
        Py_ssize_t n;
        const char* p = PyUnicode_AsUTF8AndSize(h.ptr(), &n);
        if (!p) throw nb::python_error();
        return {p, static_cast<size_t>(n)};
    }

    void visit(nb::handle item) {
        if (PyDict_Check(item.ptr())) {
            PyObject *key, *value;
            for (Py_ssize_t at = 0; PyDict_Next(item.ptr(), &at, &key, &value);) {
                if (!PyUnicode_Check(key)) throw nb::type_error("feature names must be strings");
                named(text_of(key), value);
            }
        } else if (PyUnicode_Check(item.ptr())) {
            add(text_of(item), 1.0);
        } else if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr()) || PyAnySet_Check(item.ptr())) {
            for (nb::handle part : nb::borrow<nb::object>(item)) visit(part);
        } else {
            throw nb::type_error("a token's features must be a dict, or a list or set of strings");
        }
    }

    void named(std::string_view name, nb::handle value) {
        const size_t length = prefix_.size();
        if (PyBool_Check(value.ptr())) {
            add(name, value.ptr() == Py_True ? 1.0 : 0.0);
        } else if (PyUnicode_Check(value.ptr()) || PyDict_Check(value.ptr()) || PyList_Check(value.ptr())
                   || PyTuple_Check(value.ptr()) || PyAnySet_Check(value.ptr())) {
            prefix_.append(name).append(":");
            visit(value);
            prefix_.resize(length);
        } else {
            const double number = PyFloat_AsDouble(value.ptr());
            if (number == -1.0 && PyErr_Occurred()) {
                PyErr_Clear();
                throw nb::type_error("a feature's value must be a number, a string, a bool, or a dict, list or set");
            }
            add(name, number);
        }
    }

    void add(std::string_view name, double value) {
        if (!std::isfinite(value)) {
            const std::string full = prefix_ + std::string(name);
            throw std::invalid_argument("the feature " + full + " has the value " + (std::isnan(value) ? "NaN" : "infinity")
                                        + "; values must be finite");
        }
        if (!prefix_.empty()) {
            full_.assign(prefix_).append(name);
            name = full_;
        }
        const int32_t id = learn_ ? names_.add(name) : names_.find(name);
        if (id < 0 || value == 0.0) return;
        rows_.index.push_back(id);
        rows_.value.push_back(value);
    }

    StringTable& names_;
    bool learn_;
    std::string prefix_, full_;
    Csr rows_;
};

nb::bytes label_lines(const nb::bytes& block, const In<int64_t>& start, const In<int64_t>& end,
                      const In<int32_t>& lengths, const In<int32_t>& labels, const std::vector<std::string>& names) {
    require(start.size() == labels.size() && end.size() == labels.size(), "there must be one line a label");
    const auto size = static_cast<int64_t>(block.size());
    std::string out;
    out.reserve(block.size() + labels.size() * 8);
    size_t t = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
        for (int32_t k = 0; k < lengths(i); ++k, ++t) {
            require(t < labels.size() && start(t) >= 0 && start(t) <= end(t) && end(t) <= size, "a line is out of range");
            require(labels(t) >= 0 && static_cast<size_t>(labels(t)) < names.size(), "a label is out of range");
            out.append(block.c_str() + start(t), static_cast<size_t>(end(t) - start(t)));
            out.push_back('\t');
            out.append(names[labels(t)]);
            out.push_back('\n');
        }
        out.push_back('\n');
    }
    return nb::bytes(out.data(), out.size());
}

}  // namespace

NB_MODULE(_core, m) {
    nb::set_leak_warnings(false);  // what Python keeps until the very end is no leak of ours
    m.doc() = "Parsimon's compiled core: interning, template expansion, sparse maps, dynamic programs.";
    m.def("instruction_set", [] { return kernels().name; }, "The build of the hot loops in use on this processor.");

    nb::class_<StringTable>(m, "StringTable")
        .def(nb::init<>())
        .def("__len__", &StringTable::size)
        .def("__getitem__", [](const StringTable& s, int32_t id) {
            if (id < 0 || id >= s.size()) throw nb::index_error("no such string");
            const auto text = s[id];
            return nb::str(text.data(), text.size());
        })
        .def("add", [](StringTable& s, std::string_view text) { return s.add(text); }, "text"_a)
        .def("find", [](const StringTable& s, std::string_view text) { return s.find(text); }, "text"_a)
        .def("add_all", [](StringTable& s, const nb::list& texts) {
            std::vector<int32_t> ids;
            ids.reserve(texts.size());
            for (nb::handle h : texts) ids.push_back(s.add(nb::cast<std::string_view>(h)));
            return give(std::move(ids));
        }, "texts"_a)
        .def("get_all", [](const StringTable& s, const In<int32_t>& ids) {
            nb::list out;
            for (size_t i = 0; i < ids.size(); ++i) {
                require(ids(i) >= 0 && ids(i) < s.size(), "no such string");
                const auto text = s[ids(i)];
                out.append(nb::str(text.data(), text.size()));
            }
            return out;
        }, "ids"_a)
        .def("copy", [](const StringTable& s) { return StringTable(s); })
        .def("pack", [](const StringTable& s, const In<int32_t>& ids) {
            std::vector<uint8_t> bytes;
            std::vector<int64_t> start{0};
            for (size_t i = 0; i < ids.size(); ++i) {
                require(ids(i) >= 0 && ids(i) < s.size(), "no such string");
                const auto text = s[ids(i)];
                bytes.insert(bytes.end(), text.begin(), text.end());
                start.push_back(static_cast<int64_t>(bytes.size()));
            }
            return nb::make_tuple(give(std::move(bytes)), give(std::move(start)));
        }, "ids"_a, "The bytes of the given strings, end to end, and where each starts.")
        .def_static("unpack", [](const In<uint8_t>& bytes, const In<int64_t>& start) {
            const auto offsets = checked_offsets(start, static_cast<int64_t>(bytes.size()));
            StringTable s;
            for (size_t i = 0; i + 1 < offsets.size(); ++i) {
                const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + offsets[i], offsets[i + 1] - offsets[i]);
                require(valid_utf8(text), "a string is not valid UTF-8");
                require(s.add(text) == static_cast<int32_t>(i), "a string is there twice");
            }
            return s;
        }, "bytes"_a, "start"_a);

    nb::class_<ColumnReader>(m, "ColumnReader")
        .def(nb::init<StringTable&, char, std::string, bool, bool, int32_t>(), "strings"_a, "separator"_a, "comment"_a,
             "keep_lines"_a, "learn"_a = true, "wanted"_a = 0, nb::keep_alive<1, 2>())
        // Returns None, or (line, what is wrong).
        .def("feed", [](ColumnReader& r, const nb::bytes& block) -> std::optional<std::pair<int64_t, std::string>> {
            try {
                const std::string_view text(block.c_str(), block.size());
                nb::gil_scoped_release free;
                r.feed(text);
            } catch (const ColumnError& e) { return std::pair{e.line, std::string(e.what())}; }
            return std::nullopt;
        }, "block"_a)
        .def("finish", [](ColumnReader& r) -> std::optional<std::pair<int64_t, std::string>> {
            try { r.finish(); } catch (const ColumnError& e) { return std::pair{e.line, std::string(e.what())}; }
            return std::nullopt;
        })
        .def("clear", &ColumnReader::clear)
        .def_prop_ro("n_columns", &ColumnReader::n_columns)
        .def_prop_ro("lines_read", &ColumnReader::lines_read)
        .def("columns", [](const ColumnReader& r) {  // [column][token]
            const size_t C = std::max(r.n_columns(), 1), T = r.ids().size() / C;
            std::vector<int32_t> out(C * T);
            for (size_t t = 0; t < T; ++t)
                for (size_t c = 0; c < C; ++c) out[c * T + t] = r.ids()[t * C + c];
            return give(std::move(out), {C, T});
        })
        .def("lengths", [](const ColumnReader& r) { return give(std::vector<int32_t>(r.lengths())); })
        .def("lines", [](const ColumnReader& r) {
            return nb::make_tuple(give(std::vector<int64_t>(r.line_start())), give(std::vector<int64_t>(r.line_end())));
        });
    m.def("label_lines", &label_lines, "block"_a, "start"_a, "end"_a, "lengths"_a, "labels"_a, "names"_a,
          "The lines of a block with a label appended to each, sequences separated by blank lines.");

    m.def("collect_items", [](const nb::object& sequences, StringTable& names, bool learn) {
        ItemCollector collector(names, learn);
        std::vector<int32_t> lengths;
        int64_t sequence_number = 0, token_number = 0;
        try {
            for (nb::handle sequence : sequences) {
                token_number = 0;
                for (nb::handle item : nb::borrow<nb::object>(sequence)) {
                    collector.token(item);
                    ++token_number;
                }
                lengths.push_back(static_cast<int32_t>(token_number));
                ++sequence_number;
            }
        } catch (const nb::builtin_exception& e) {
            throw std::invalid_argument("sequence " + std::to_string(sequence_number) + ", token "
                                        + std::to_string(token_number) + ": " + e.what());
        } catch (const std::invalid_argument& e) {
            throw std::invalid_argument("sequence " + std::to_string(sequence_number) + ", token "
                                        + std::to_string(token_number) + ": " + e.what());
        }
        Csr rows = collector.finish();
        nb::object value = nb::none();
        if (!rows.value.empty()) value = nb::cast(give(std::move(rows.value)));
        return nb::make_tuple(give(std::move(rows.start)), give(std::move(rows.index)), value, give(std::move(lengths)));
    }, "sequences"_a, "names"_a, "learn"_a, "Feature dictionaries → compressed sparse rows of attributes.");

    nb::class_<Extractor>(m, "Extractor")
        .def("__init__", [](Extractor* self, const In2<int32_t>& tests, const In<int32_t>& start, const In<int32_t>& skeleton) {
            require(tests.shape(1) == 3, "a test is (input, offset, absolute)");
            require(start.size() == skeleton.size() + 1, "there must be a start for every template and an end");
            std::vector<TemplateTest> list;
            for (size_t i = 0; i < tests.shape(0); ++i)
                list.push_back({tests(i, 0), tests(i, 1), tests(i, 2) != 0});
            new (self) Extractor(std::move(list), {start.data(), start.data() + start.size()},
                                 {skeleton.data(), skeleton.data() + skeleton.size()});
        }, "tests"_a, "start"_a, "skeleton"_a)
        .def_prop_ro("n_attributes", &Extractor::n_attributes)
        .def_prop_ro("offsets", [](const Extractor& e) { return give(std::vector<int64_t>(e.offsets())); }, nb::rv_policy::move)
        .def("tuples", [](const Extractor& e, int32_t skeleton) {
            require(skeleton >= 0 && skeleton < e.n_skeletons(), "no such skeleton");
            const TupleTable& table = e.table(skeleton);
            return give(std::vector<int32_t>(table.tuples()), {static_cast<size_t>(table.size()), static_cast<size_t>(table.arity())});
        }, "skeleton"_a)
        .def("load", [](Extractor& e, int32_t skeleton, const In2<int32_t>& tuples) {
            require(skeleton >= 0 && skeleton < e.n_skeletons(), "no such skeleton");
            require(tuples.shape(1) == static_cast<size_t>(e.table(skeleton).arity()), "tuples have the wrong width");
            e.load(skeleton, tuples.data(), static_cast<int64_t>(tuples.shape(0)));
        }, "skeleton"_a, "tuples"_a)
        // inputs [n_inputs][T]; before, after [n_inputs][reach]. Learning gives a table [T][n_templates].
        .def("learn", [](Extractor& e, const In2<int32_t>& inputs, const In2<int32_t>& before, const In2<int32_t>& after,
                         const In<int64_t>& offsets, int32_t skip, int threads) {
            const ExtractorInput given(inputs, before, after, offsets, skip);
            std::vector<int32_t> out(inputs.shape(1) * e.n_templates());
            {
                nb::gil_scoped_release free;
                e.learn(given.inputs, given.sequences, out.data(), threads);
            }
            return give(std::move(out), {inputs.shape(1), static_cast<size_t>(e.n_templates())});
        }, "inputs"_a, "before"_a, "after"_a, "offsets"_a, "skip"_a, "threads"_a)
        // Known attributes as compressed sparse rows.
        .def("apply", [](const Extractor& e, const In2<int32_t>& inputs, const In2<int32_t>& before, const In2<int32_t>& after,
                         const In<int64_t>& offsets, int32_t skip, int threads) {
            const ExtractorInput given(inputs, before, after, offsets, skip);
            Csr rows;
            {
                nb::gil_scoped_release free;
                rows = e.apply(given.inputs, given.sequences, threads);
            }
            return nb::make_tuple(give(std::move(rows.start)), give(std::move(rows.index)));
        }, "inputs"_a, "before"_a, "after"_a, "offsets"_a, "skip"_a, "threads"_a);

    nb::class_<FeatureRows>(m, "FeatureRows")
        .def("__init__", [](FeatureRows* self, int64_t n_attributes, int64_t width, const std::optional<In<int64_t>>& start,
                            const std::optional<In<int32_t>>& column) {
            new (self) FeatureRows();
            require(n_attributes >= 0 && width > 0, "a map needs at least one column");
            self->n_attributes = n_attributes;
            self->width = width;
            self->all = !start;
            if (start) {
                require(column.has_value() && static_cast<int64_t>(start->size()) == n_attributes + 1, "one start per attribute and an end");
                self->start = checked_offsets(*start, static_cast<int64_t>(column->size()));
                self->column.assign(column->data(), column->data() + column->size());
                for (const int32_t c : self->column) require(c >= 0 && c < width, "a column is out of range");
            }
        }, "n_attributes"_a, "width"_a, "start"_a = nb::none(), "column"_a = nb::none())
        .def_ro("n_attributes", &FeatureRows::n_attributes)
        .def_ro("width", &FeatureRows::width)
        .def_prop_ro("n_features", &FeatureRows::size)
        // The first feature of each attribute, and one past the last.
        .def("starts", [](const FeatureRows& f) {
            if (!f.all) return give(std::vector<int64_t>(f.start));
            std::vector<int64_t> start(f.n_attributes + 1);
            for (int64_t a = 0; a <= f.n_attributes; ++a) start[a] = a * f.width;
            return give(std::move(start));
        })
        // Attribute and column of each of the given features.
        .def("describe", [](const FeatureRows& f, const In<int64_t>& features) {
            std::vector<int64_t> attribute(features.size());
            std::vector<int32_t> column(features.size());
            for (size_t i = 0; i < features.size(); ++i) {
                const int64_t k = features(i);
                require(k >= 0 && k < f.size(), "no such feature");
                attribute[i] = f.all ? k / f.width : std::upper_bound(f.start.begin(), f.start.end(), k) - f.start.begin() - 1;
                column[i] = f.all ? static_cast<int32_t>(k % f.width) : f.column[k];
            }
            return nb::make_tuple(give(std::move(attribute)), give(std::move(column)));
        }, "features"_a)
        // The feature of each (attribute, column), −1 where there is none.
        .def("find", [](const FeatureRows& f, const In<int64_t>& attribute, const In<int32_t>& column) {
            require(attribute.size() == column.size(), "one column an attribute");
            std::vector<int64_t> out(attribute.size(), -1);
            for (size_t i = 0; i < out.size(); ++i) {
                const int64_t a = attribute(i);
                const int32_t c = column(i);
                if (a < 0 || a >= f.n_attributes || c < 0 || c >= f.width) continue;
                if (f.all) { out[i] = a * f.width + c; continue; }
                const auto first = f.column.begin() + f.start[a], last = f.column.begin() + f.start[a + 1];
                const auto at = std::lower_bound(first, last, c);
                if (at != last && *at == c) out[i] = at - f.column.begin();
            }
            return give(std::move(out));
        }, "attribute"_a, "column"_a);

    nb::class_<LinearMap>(m, "LinearMap")
        .def("__init__", [](LinearMap* self, const In<int64_t>& start, const In<int32_t>& index,
                            const std::optional<In<double>>& value, const FeatureRows& features) {
            new (self) LinearMap(checked_csr(start, index, value, features.n_attributes), std::make_shared<FeatureRows>(features));
        }, "start"_a, "index"_a, "value"_a.none(), "features"_a)
        .def_prop_ro("n_rows", [](const LinearMap& map) { return map.rows().size(); })
        .def_prop_ro("n_features", [](const LinearMap& map) { return map.features().size(); })
        .def_prop_ro("n_entries", [](const LinearMap& map) { return map.rows().entries(); })
        .def("row_sizes", [](const LinearMap& map) {
            std::vector<int64_t> sizes(map.rows().size());
            for (int64_t r = 0; r < map.rows().size(); ++r) sizes[r] = map.rows().start[r + 1] - map.rows().start[r];
            return give(std::move(sizes));
        }, "How many attributes fire on each row.")
        .def_prop_ro("features", [](const LinearMap& map) -> const FeatureRows& { return map.features(); }, nb::rv_policy::reference_internal)
        .def("restrict", [](const LinearMap& map, const In<int64_t>& features, int threads) {
            nb::gil_scoped_release free;
            return map.restrict(features.data(), static_cast<int64_t>(features.size()), threads);
        }, "features"_a, "threads"_a = 1)
        .def("take", [](const LinearMap& map, const In<int64_t>& rows) {
            for (size_t i = 0; i < rows.size(); ++i) require(rows(i) >= 0 && rows(i) < map.rows().size(), "a row is out of range");
            nb::gil_scoped_release free;
            return map.take(rows.data(), static_cast<int64_t>(rows.size()));
        }, "rows"_a)
        .def("scores", [](const LinearMap& map, const In<double>& w, InOut2<double> out, int threads) {
            require(static_cast<int64_t>(w.size()) == map.features().size(), "there must be one weight a feature");
            require(static_cast<int64_t>(out.shape(0)) == map.rows().size() && static_cast<int64_t>(out.shape(1)) == map.features().width,
                    "scores must be rows × columns");
            nb::gil_scoped_release free;
            kernels().scores(map, w.data(), out.data(), threads);
        }, "w"_a, "out"_a.noconvert(), "threads"_a)
        .def("pullback", [](const LinearMap& map, const In2<double>& mu, InOut<double> out, int threads, bool squared) {
            require(static_cast<int64_t>(out.size()) == map.features().size(), "there must be one place a feature");
            require(static_cast<int64_t>(mu.shape(0)) == map.rows().size() && static_cast<int64_t>(mu.shape(1)) == map.features().width,
                    "marginals must be rows × columns");
            map.attributes();  // made under the lock
            nb::gil_scoped_release free;
            kernels().pullback(map, mu.data(), out.data(), squared, threads);
        }, "mu"_a, "out"_a.noconvert(), "threads"_a, "squared"_a = false);

    m.def("seen_features", [](const In<int64_t>& start, const In<int32_t>& index, const In<int32_t>& column, int64_t n_attributes, int64_t width) {
        require(start.size() == column.size() + 1, "one column a row");
        for (size_t r = 0; r < column.size(); ++r) require(column(r) < width, "a column is out of range");
        return seen_features(checked_csr(start, index, std::nullopt, n_attributes), column.data(), n_attributes, width);
    }, "start"_a, "index"_a, "column"_a, "n_attributes"_a, "width"_a, "The columns that each attribute meets (-1 in a row is none).");
    m.def("distinct_rows", [](const In<int64_t>& start, const In<int32_t>& index, const std::optional<In<double>>& value) {
        Csr rows = checked_csr(start, index, value, std::numeric_limits<int32_t>::max());
        auto [distinct, which] = distinct_rows(rows);
        nb::object values = nb::none();
        if (!distinct.value.empty()) values = nb::cast(give(std::move(distinct.value)));
        return nb::make_tuple(give(std::move(distinct.start)), give(std::move(distinct.index)), values, give(std::move(which)));
    }, "start"_a, "index"_a, "value"_a.none(), "The distinct rows, and which one each row is.");

    m.def("lay_out", [](const LinearMap& steps, const In<int32_t>& row, int64_t n_labels, bool whole, int threads) {
        require(steps.features().width == n_labels * n_labels, "features must be of pairs of labels");
        std::vector<int32_t> rows(row.data(), row.data() + row.size());
        for (const int32_t r : rows) require(r >= 0 && r < steps.rows().size(), "a step's row is out of range");
        nb::gil_scoped_release free;
        PairLayout out = LayoutMaker(steps, rows, n_labels).make(steps.shared_features(), whole, threads);
        nb::gil_scoped_acquire hold;
        return nb::make_tuple(give(std::move(out.kind)), std::move(out.matrices), give(std::move(out.row)), give(std::move(out.row_kind)),
                              give(std::move(out.single_start)), give(std::move(out.single)), std::move(out.sums));
    }, "steps"_a, "row"_a, "n_labels"_a, "whole"_a, "threads"_a, "Which attributes of steps go into matrices, and which stay single pairs.");

    nb::class_<ChainPosterior>(m, "ChainPosterior").def(nb::init<>());

    nb::class_<Chain>(m, "Chain")
        .def(nb::init<const In<int64_t>&, const In<int32_t>&, const std::optional<In<double>>&, int32_t, int64_t,
                      const std::optional<In<int32_t>>&, const std::optional<In<int32_t>>&, const std::optional<In<int64_t>>&,
                      const std::optional<In<uint32_t>>&>(),
             "offsets"_a, "pair_kind"_a, "weights"_a.none(), "n_labels"_a, "n_kinds"_a, "row"_a = nb::none(), "row_kind"_a = nb::none(),
             "single_start"_a = nb::none(), "single"_a = nb::none())
        .def("marginals", [](const Chain& c, const In2<double>& node, const In3<double>& pair, const In<double>& single, InOut<double> log_z,
                             InOut2<double> node_out, InOut3<double> pair_out, InOut<double> single_out, InOut<double> scratch,
                             ChainPosterior* kept, int threads) {
            c.check(node, pair, single);
            require(log_z.size() == c.offsets.size() - 1 && node_out.size() == node.size() && pair_out.size() == pair.size()
                        && single_out.size() == single.size(), "outputs must have the shape of the scores");
            require(kept || scratch.size() >= 2 * node.shape(0) * static_cast<size_t>(padded(c.n_labels)), "scratch is too small");
            nb::gil_scoped_release free;
            double* left = scratch.data();
            double* right = left + (kept ? 0 : node.shape(0) * padded(c.n_labels));
            return kernels().chain_marginals(c.shape(), {node.data(), pair.data(), single.data()}, log_z.data(),
                                             {node_out.data(), pair_out.data(), single_out.data()}, left, right, kept, threads);
        }, "node"_a, "pair"_a, "single"_a, "log_z"_a.noconvert(), "node_out"_a.noconvert(), "pair_out"_a.noconvert(),
           "single_out"_a.noconvert(), "scratch"_a.noconvert(), "kept"_a.none(), "threads"_a)
        .def("variances", [](const Chain& c, const In2<double>& marginals, InOut2<double> node_out, InOut3<double> pair_out,
                             InOut<double> single_out, int threads) {
            c.check(marginals, pair_out, single_out);
            require(node_out.size() == marginals.size(), "outputs must have the shape of the scores");
            nb::gil_scoped_release free;
            kernels().chain_variances(c.shape(), marginals.data(), {node_out.data(), pair_out.data(), single_out.data()}, threads);
        }, "marginals"_a, "node_out"_a.noconvert(), "pair_out"_a.noconvert(), "single_out"_a.noconvert(), "threads"_a)
        .def("score", [](const Chain& c, const In2<double>& node, const In3<double>& pair, const In<double>& single,
                         const In<int32_t>& labels, InOut<double> out, int threads) {
            c.check(node, pair, single);
            c.check_labels(labels);
            require(out.size() == c.offsets.size() - 1, "one score a sequence");
            nb::gil_scoped_release free;
            kernels().chain_score(c.shape(), {node.data(), pair.data(), single.data()}, labels.data(), out.data(), threads);
        }, "node"_a, "pair"_a, "single"_a, "labels"_a, "out"_a.noconvert(), "threads"_a)
        .def("add", [](const Chain& c, const In<int32_t>& labels, double times, InOut2<double> node, InOut3<double> pair, InOut<double> single) {
            c.check(node, pair, single);
            c.check_labels(labels);
            nb::gil_scoped_release free;
            kernels().chain_add(c.shape(), labels.data(), times, {node.data(), pair.data(), single.data()});
        }, "labels"_a, "times"_a, "node"_a.noconvert(), "pair"_a.noconvert(), "single"_a.noconvert())
        .def("argmax", [](const Chain& c, const In2<double>& node, const In3<double>& pair, const In<double>& single, InOut<double> best,
                          InOut<int32_t> labels, int threads) {
            c.check(node, pair, single);
            require(best.size() == c.offsets.size() - 1 && labels.size() == node.shape(0), "outputs must have the shape of the scores");
            nb::gil_scoped_release free;
            return (c.is_tree() ? kernels().tree_argmax : kernels().chain_argmax)(c.shape(), {node.data(), pair.data(), single.data()}, best.data(), labels.data(), threads);
        }, "node"_a, "pair"_a, "single"_a, "best"_a.noconvert(), "labels"_a.noconvert(), "threads"_a)
        .def("kbest", [](const Chain& c, const In2<double>& node, const In3<double>& pair, const In<double>& single, InOut2<double> scores,
                         InOut2<int32_t> labels, int threads) {
            c.check(node, pair, single);
            require(scores.shape(0) == labels.shape(0) && scores.shape(1) == c.offsets.size() - 1 && labels.shape(1) == node.shape(0),
                    "outputs must have the shape of the scores");
            nb::gil_scoped_release free;
            (c.is_tree() ? kernels().tree_kbest : kernels().chain_kbest)(c.shape(), {node.data(), pair.data(), single.data()}, static_cast<int32_t>(scores.shape(0)), scores.data(), labels.data(), threads);
        }, "node"_a, "pair"_a, "single"_a, "scores"_a.noconvert(), "labels"_a.noconvert(), "threads"_a)
        .def("sample", [](const Chain& c, const In2<double>& node, const In3<double>& pair, const In<double>& single, uint64_t seed,
                          InOut2<int32_t> labels, int threads) {
            c.check(node, pair, single);
            require(labels.shape(1) == node.shape(0), "outputs must have the shape of the scores");
            nb::gil_scoped_release free;
            return (c.is_tree() ? kernels().tree_sample : kernels().chain_sample)(c.shape(), {node.data(), pair.data(), single.data()}, seed, static_cast<int32_t>(labels.shape(0)), labels.data(), threads);
        }, "node"_a, "pair"_a, "single"_a, "seed"_a, "labels"_a.noconvert(), "threads"_a);

    using Terms = std::vector<std::tuple<double, const ChainPosterior*, In2<double>>>;
    using Outputs = std::vector<std::pair<In<double>, In<int32_t>>>;
    m.def("screen_pairs", [](const std::vector<std::tuple<const LinearMap*, In<int32_t>, const Chain*, Terms, Outputs>>& given,
                             double threshold, int threads) {
        std::vector<ScreenBatch> batches;
        std::vector<Grouped> groups;
        groups.reserve(given.size());
        for (const auto& [steps, row, chain, terms, outputs] : given) {
            const size_t n_tokens = chain->pair_kind.size();
            require(row.size() == n_tokens, "there must be one row a token");
            steps->attributes();  // made under the lock
            groups.emplace_back(chain->offsets, chain->forest.parent, std::vector<int32_t>(row.data(), row.data() + row.size()),
                                steps->rows().size());
            ScreenBatch batch{steps, groups.back().start.data(), groups.back().steps.data(), chain->shape(), {}, {}};
            for (const auto& [sign, posterior, node] : terms) {
                require(posterior && posterior->left.size() == n_tokens * padded(chain->n_labels) && node.size() == n_tokens * chain->n_labels,
                        "a posterior must be of the chain");
                batch.terms.push_back({sign, posterior, node.data()});
            }
            for (const auto& [times, labels] : outputs) {
                chain->check_labels(labels);
                require(times.size() == n_tokens, "one number a token");
                batch.outputs.push_back({times.data(), labels.data()});
            }
            batches.push_back(std::move(batch));
        }
        std::vector<int64_t> features;
        std::vector<double> gradients;
        {
            nb::gil_scoped_release free;
            kernels().screen_pairs(batches, threshold, features, gradients, threads);
        }
        return nb::make_tuple(give(std::move(features)), give(std::move(gradients)));
    }, "batches"_a, "threshold"_a, "threads"_a, "Features of label pairs with a gradient above a threshold, ascending.");
    m.def("screen_nodes", [](const std::vector<std::pair<const LinearMap*, In2<double>>>& given, double threshold, int threads) {
        std::vector<const LinearMap*> maps;
        std::vector<const double*> parts;
        for (const auto& [map, part] : given) {
            require(static_cast<int64_t>(part.shape(0)) == map->rows().size() && static_cast<int64_t>(part.shape(1)) == map->features().width,
                    "marginals must be rows × columns");
            map->attributes();
            maps.push_back(map);
            parts.push_back(part.data());
        }
        std::vector<int64_t> features;
        std::vector<double> gradients;
        {
            nb::gil_scoped_release free;
            kernels().screen_nodes(maps, parts, threshold, features, gradients, threads);
        }
        return nb::make_tuple(give(std::move(features)), give(std::move(gradients)));
    }, "batches"_a, "threshold"_a, "threads"_a, "Features of labels with a gradient above a threshold, ascending.");

    nb::class_<BlockDescent>(m, "BlockDescent")
        .def(nb::init<int32_t>(), "n_labels"_a)
        .def("add", [](BlockDescent& descent, const LinearMap& node, const LinearMap& steps, const In<int32_t>& row, const Chain& chain,
                       const In<int32_t>& gold) {
            require(!chain.is_tree(), "this learns from sequences, not from trees");
            chain.check_labels(gold);
            require(node.rows().size() == static_cast<int64_t>(chain.pair_kind.size()) && row.size() == chain.pair_kind.size(),
                    "the maps must have a row a token");
            std::vector<int32_t> rows(row.data(), row.data() + row.size());
            for (const int32_t r : rows) require(r >= 0 && r < steps.rows().size(), "a step's row is out of range");
            node.attributes();
            steps.attributes();
            Grouped groups(chain.offsets, chain.forest.parent, rows, steps.rows().size());
            descent.add({node, steps, std::move(rows), chain.offsets, {gold.data(), gold.data() + gold.size()}, chain.weight,
                         std::move(groups.start), std::move(groups.steps)});
        }, "node"_a, "steps"_a, "row"_a, "chain"_a, "gold"_a)
        .def("make_blocks", &BlockDescent::make_blocks)
        .def_prop_ro("n_blocks", &BlockDescent::n_blocks)
        .def("active_blocks", [](const BlockDescent& descent) { return give(descent.active_blocks()); })
        .def("sweep", [](BlockDescent& descent, const In<int64_t>& blocks, double l1, double l2, double caution, int threads) {
            for (size_t i = 0; i < blocks.size(); ++i) require(blocks(i) >= 0 && blocks(i) < descent.n_blocks(), "no such block");
            nb::gil_scoped_release free;
            const BlockDescent::Sweep told = descent.sweep(blocks.data(), static_cast<int64_t>(blocks.size()), l1, l2, caution, threads);
            return std::pair(told.largest, told.changed);
        }, "blocks"_a, "l1"_a, "l2"_a, "caution"_a, "threads"_a)
        .def("weights", [](const BlockDescent& descent) {
            std::vector<int64_t> features;
            std::vector<double> values;
            descent.collect(features, values);
            return nb::make_tuple(give(std::move(features)), give(std::move(values)));
        })
        .def("start", [](BlockDescent& descent, const In<int64_t>& features, const In<double>& values) {
            require(features.size() == values.size(), "one value a feature");
            descent.start(features.data(), values.data(), static_cast<int64_t>(features.size()));
        }, "features"_a, "values"_a);

    auto online = bind_chain_rounds<OnlineChain>(m, "OnlineChain");
    online
        .def("__init__", [](OnlineChain* self, int32_t n_labels, const FeatureRows& node, const FeatureRows& pair,
                            const In<int32_t>& node_block, const In<int32_t>& pair_block, int64_t n_blocks) {
            check_columns(n_labels, node, pair);
            check_blocks(node_block, node.n_attributes, n_blocks);
            check_blocks(pair_block, pair.n_attributes, n_blocks);
            new (self) OnlineChain(ChainInstances(n_labels),
                                   OnlineWeights(std::make_shared<FeatureRows>(node), std::make_shared<FeatureRows>(pair),
                                                 node_block.data(), pair_block.data(), n_blocks));
        }, "n_labels"_a, "node"_a, "pair"_a, "node_block"_a, "pair_block"_a, "n_blocks"_a);
    bind_online(online);

    bind_chain_rounds<SummedChain>(m, "SummedChain")
        .def("__init__", [](SummedChain* self, int32_t n_labels, const FeatureRows& node, const FeatureRows& pair,
                            const In<bool>& node_exempt, const In<bool>& pair_exempt) {
            check_columns(n_labels, node, pair);
            require(static_cast<int64_t>(node_exempt.size()) == node.n_attributes && static_cast<int64_t>(pair_exempt.size()) == pair.n_attributes,
                    "one mark an attribute");
            new (self) SummedChain(ChainInstances(n_labels),
                                   SummedWeights(std::make_shared<FeatureRows>(node), std::make_shared<FeatureRows>(pair),
                                                 node_exempt.data(), pair_exempt.data()));
        }, "n_labels"_a, "node"_a, "pair"_a, "node_exempt"_a, "pair_exempt"_a)
        .def("run", [](SummedChain& learner, const In<int64_t>& order, int question, double cost, const In<double>& steps, double l1,
                       double l2, double negligible) {
            require(steps.size() == order.size(), "one step a round");
            for (size_t i = 0; i < steps.size(); ++i) require(steps(i) > 0 && std::isfinite(steps(i)), "steps must be above zero");
            require(l1 >= 0 && l2 >= 0 && negligible >= 0, "strengths must not be negative");
            learner.weights().set_penalty(l1, l2, negligible);
            return run_rounds(learner, order, question, cost, steps.data());
        }, "order"_a, "question"_a, "cost"_a, "steps"_a, "l1"_a, "l2"_a, "negligible"_a)
        .def("weights", [](SummedChain& learner) {
            std::vector<int64_t> features;
            std::vector<double> values;
            learner.weights().collect(features, values);
            return nb::make_tuple(give(std::move(features)), give(std::move(values)));
        });

    m.def("descend", [](const In<double>& gradient, const In<double>& diagonal, const In<double>& curvature, const In2<double>& columns,
                        const In2<double>& projected, const In<double>& w, const In<double>& l1, int sweeps, InOut<double> d, InOut<double> moment) {
        const size_t n = w.size(), rank = columns.shape(1);
        require(gradient.size() == n && diagonal.size() == n && curvature.size() == n && l1.size() == n && d.size() == n, "one number a weight");
        require(columns.shape(0) == n && projected.shape(0) == n && projected.shape(1) == rank && moment.size() == rank, "matrices must be weights × rank");
        nb::gil_scoped_release free;
        kernels().descend({static_cast<int64_t>(n), static_cast<int64_t>(rank), gradient.data(), diagonal.data(), curvature.data(),
                           columns.data(), projected.data()}, w.data(), l1.data(), sweeps, d.data(), moment.data());
    }, "gradient"_a, "diagonal"_a, "curvature"_a, "columns"_a, "projected"_a, "w"_a, "l1"_a, "sweeps"_a, "d"_a.noconvert(), "moment"_a.noconvert(),
       "Coordinate descent on a diagonal plus low-rank quadratic with an L1 norm.");

    m.def("dot", [](const In<double>& a, const In<double>& b) {
        require(a.size() == b.size(), "vectors must be of one length");
        nb::gil_scoped_release free;
        return kernels().dot(a.data(), b.data(), static_cast<int64_t>(a.size()));
    }, "a"_a, "b"_a, "The inner product, summed in a fixed order.");
    bind_arborescences(m);
    bind_arcs(m);
    bind_flat(m);
    bind_planes(m);
    bind_graphs(m);
    bind_trees(m);
    m.def("exponentials", [](InOut<double> x) { kernels().exponentials(x.data(), static_cast<int64_t>(x.size())); }, "x"_a.noconvert());
}
