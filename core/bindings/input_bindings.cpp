// What Python sees of the core's part for what is read: strings, columns, feature dictionaries, template expansion.
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>

#include "base/threads.hpp"
#include "bindings/binding_arrays.hpp"
#include "bindings/extractor_input.hpp"
#include "input/columns.hpp"
#include "input/extractor.hpp"
#include "input/strings.hpp"

using namespace parsimon;

namespace {

// The text of a string, in UTF-8.
std::string_view text_of(nb::handle h) {
    if (!PyUnicode_Check(h.ptr())) throw nb::type_error("texts must be strings");
    Py_ssize_t n;
    const char* p = PyUnicode_AsUTF8AndSize(h.ptr(), &n);
    if (!p) {
        PyErr_Clear();
        throw nb::type_error("a text has half of a surrogate pair, which is no character of its own");
    }
    return {p, static_cast<size_t>(n)};
}

Extractor checked_extractor(const In2<int32_t>& tests, const In<int32_t>& start, const In<int32_t>& skeleton) {
    require(tests.shape(1) == 3, "a test is (input, offset, absolute)");
    require(start.size() == skeleton.size() + 1, "there must be a start for every template and an end");
    std::vector<TemplateTest> list;
    for (size_t i = 0; i < tests.shape(0); ++i) {
        require(tests(i, 0) >= 0 && tests(i, 0) < most_numbers, "the input of a test is out of range");
        list.push_back({tests(i, 0), tests(i, 1), tests(i, 2) != 0});
    }
    std::vector<int32_t> starts(start.data(), start.data() + start.size());
    std::vector<int32_t> skeletons(skeleton.data(), skeleton.data() + skeleton.size());
    require(starts[0] == 0 && starts.back() == static_cast<int64_t>(list.size())
                && std::is_sorted(starts.begin(), starts.end()),
            "starts must ascend from 0 to the number of tests");
    std::vector<int32_t> arity(skeletons.size(), -1);
    for (size_t j = 0; j < skeletons.size(); ++j) {
        require(skeletons[j] >= 0 && static_cast<size_t>(skeletons[j]) < skeletons.size(),
                "a skeleton's number must be below the number of templates");
        int32_t& known = arity[skeletons[j]];
        const int32_t n = starts[j + 1] - starts[j];
        require(known < 0 || known == n, "templates of one skeleton must have the same number of tests");
        known = n;
    }
    return Extractor(std::move(list), std::move(starts), std::move(skeletons));
}

// Feature dictionaries in the manner of CRFsuite → rows of attributes: {"w": "the"} is the attribute w:the,
// {"bias": 1.0} is bias with that value, True is 1 and False 0, a plain string is an attribute of value 1,
// and nested dictionaries, lists and sets put their name and a colon in front.
class ItemCollector {
  public:
    // Values whose size is above `largest` cannot be computed with.
    ItemCollector(StringTable& names, bool learn, double largest) : names_(names), learn_(learn), largest_(largest) {
        rows_.start.push_back(0);
    }

    void token(nb::handle item) {
        prefix_.clear();
        depth_ = 0;
        if (PyDict_Check(item.ptr()) || PyUnicode_Check(item.ptr())) visit(item);
        else if (is_collection(item)) {
            for (nb::handle part : nb::borrow<nb::object>(item)) {
                if (!PyUnicode_Check(part.ptr())) throw nb::type_error(wanted);
                visit(part);
            }
        } else throw nb::type_error(wanted);
        rows_.start.push_back(static_cast<int64_t>(rows_.index.size()));
    }

    // A sentence in place of a list of sentences: its tokens would be taken for sentences.
    static void check_sequence(nb::handle sequence) {
        if (PyDict_Check(sequence.ptr()) || PyUnicode_Check(sequence.ptr()) || PyBytes_Check(sequence.ptr())
            || PyAnySet_Check(sequence.ptr()) || !nb::hasattr(sequence, "__iter__"))
            throw NoSequence(
                std::string("is of type ") + Py_TYPE(sequence.ptr())->tp_name
                + ", but it must be a list of tokens; put a single sentence into a list, or use predict_single");
    }

    struct NoSequence : std::invalid_argument {
        using std::invalid_argument::invalid_argument;
    };

    Csr finish() {
        if (std::all_of(rows_.value.begin(), rows_.value.end(), [](double v) { return v == 1.0; })) rows_.value.clear();
        return std::move(rows_);
    }

  private:
    static bool is_collection(nb::handle h) {
        return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()) || PyAnySet_Check(h.ptr());
    }

    // Cyclic features have no end, and deep ones would exhaust the stack.
    void visit(nb::handle item) {
        if (++depth_ > most_deep)
            throw nb::type_error("features are nested more than 50 levels deep, or contain themselves");
        visit_parts(item);
        --depth_;
    }

    void visit_parts(nb::handle item) {
        if (PyDict_Check(item.ptr())) {
            PyObject *key, *value;
            for (Py_ssize_t at = 0; PyDict_Next(item.ptr(), &at, &key, &value);) {
                if (!PyUnicode_Check(key)) throw nb::type_error("feature names must be strings");
                const nb::object name = nb::borrow(key), held = nb::borrow(value);  // __float__ may change the dict
                named(text_of(name), held);
            }
        } else if (PyUnicode_Check(item.ptr())) {
            add(text_of(item), 1.0);
        } else if (is_collection(item)) {
            for (nb::handle part : nb::borrow<nb::object>(item)) visit(part);
        } else {
            throw nb::type_error(wanted);
        }
    }

    void named(std::string_view name, nb::handle value) {
        const size_t length = prefix_.size();
        if (PyBool_Check(value.ptr())) {
            add(name, value.ptr() == Py_True ? 1.0 : 0.0);
        } else if (PyUnicode_Check(value.ptr()) || PyDict_Check(value.ptr()) || is_collection(value)) {
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
        if (!(std::fabs(value) <= largest_)) refuse(prefix_ + std::string(name), value);
        if (!prefix_.empty()) {
            full_.assign(prefix_).append(name);
            name = full_;
        }
        const int32_t id = learn_ ? names_.add(name) : names_.find(name);
        if (id < 0 || value == 0.0) return;
        rows_.index.push_back(id);
        rows_.value.push_back(value);
    }

    void refuse(const std::string& name, double value) const {
        if (!std::isfinite(value))
            throw std::invalid_argument("the feature " + name + " has the value "
                                        + (std::isnan(value) ? "NaN" : "infinity") + "; values must be finite");
        std::ostringstream text;
        text << "the feature " << name << " has the value " << value << "; "
             << "values must lie between -" << largest_ << " and " << largest_;
        throw std::invalid_argument(text.str());
    }

    static constexpr int most_deep = 50;
    static constexpr const char* wanted = "a token's features must be a dict, or a list or set of strings";
    StringTable& names_;
    bool learn_;
    double largest_;
    int depth_ = 0;
    std::string prefix_, full_;
    Csr rows_;
};

// None, or (line, what is wrong).
using Mistake = std::optional<std::pair<int64_t, std::string>>;

template <class Read>
Mistake reading(const nb::bytes& block, Read&& read) {
    try {
        const std::string_view text(block.c_str(), block.size());
        nb::gil_scoped_release free;
        read(text);
    } catch (const ColumnError& e) { return std::pair{e.line, std::string(e.what())}; }
    return std::nullopt;
}

// What the parts of a reader have, end to end.
template <class T>
std::vector<T> joined(const ColumnReader& reader, const std::vector<T>& (ColumnReader::*of)() const) {
    std::vector<T> out;
    for (const ColumnReader* part : reader.parts()) {
        const std::vector<T>& its = (part->*of)();
        out.insert(out.end(), its.begin(), its.end());
    }
    return out;
}

// Copies n bytes; sixteen at once where so many may be read and written.
char* copied(const char* from, int64_t n, int64_t readable, char* to, const char* last) {
    if (n <= 16 && readable >= 16 && last - to >= 16) std::memcpy(to, from, 16);
    else std::memcpy(to, from, static_cast<size_t>(n));
    return to + n;
}

// Pieces of sequences are written side by side, once it is known how long each is.
nb::bytes label_lines(const nb::bytes& block, const In<int64_t>& start, const In<int64_t>& end,
                      const In<int32_t>& lengths, const In<int32_t>& labels, const std::vector<std::string>& names,
                      Threads threads) {
    require(start.size() == labels.size() && end.size() == labels.size(), "there must be one line a label");
    const auto size = static_cast<int64_t>(block.size());
    std::vector<int64_t> offsets{0};
    for (size_t i = 0; i < lengths.size(); ++i) {
        require(lengths(i) >= 0, "a length is negative");
        offsets.push_back(offsets.back() + lengths(i));
    }
    require(offsets.back() <= static_cast<int64_t>(labels.size()), "a line is out of range");
    const auto cuts = balanced_cuts(offsets.data(), static_cast<int64_t>(lengths.size()), 64);
    const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
    std::vector<std::string> tails;  // what is added to lines, with room for sixteen bytes
    std::vector<int64_t> tail_length;
    for (const std::string& name : names) {
        tails.push_back("\t" + name + "\n");
        tail_length.push_back(static_cast<int64_t>(tails.back().size()));
        tails.back().resize(std::max<size_t>(tails.back().size(), 16));
    }
    std::vector<int64_t> at(n_pieces + 1, 0);  // where each piece begins in the output
    const char* text = block.c_str();
    {
        nb::gil_scoped_release free;
        parallel_for(n_pieces, threads, [&](int64_t p, int) {
            int64_t bytes = cuts[p + 1] - cuts[p];
            for (int64_t t = offsets[cuts[p]]; t < offsets[cuts[p + 1]]; ++t) {
                require(start(t) >= 0 && start(t) <= end(t) && end(t) <= size, "a line is out of range");
                require(labels(t) >= 0 && static_cast<size_t>(labels(t)) < names.size(), "a label is out of range");
                bytes += end(t) - start(t) + tail_length[labels(t)];
            }
            at[p + 1] = bytes;
        });
    }
    for (int64_t p = 0; p < n_pieces; ++p) at[p + 1] += at[p];
    const nb::bytes out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, at.back()));
    if (!out.is_valid()) throw std::bad_alloc();
    char* written = PyBytes_AS_STRING(out.ptr());
    {
        nb::gil_scoped_release free;
        parallel_for(n_pieces, threads, [&](int64_t p, int) {
            char *to = written + at[p], *const last = written + at[p + 1];
            for (int64_t i = cuts[p]; i < cuts[p + 1]; ++i) {
                for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) {
                    to = copied(text + start(t), end(t) - start(t), size - start(t), to, last);
                    const std::string& tail = tails[labels(t)];
                    to = copied(tail.data(), tail_length[labels(t)], static_cast<int64_t>(tail.size()), to, last);
                }
                *to++ = '\n';
            }
        });
    }
    return out;
}

}  // namespace

void bind_input(nb::module_& m) {
    nb::class_<StringTable>(m, "StringTable")
        .def(nb::init<>())
        .def("__len__", &StringTable::size)
        .def("__getitem__",
             [](const StringTable& s, int32_t id) {
                 if (id < 0 || id >= s.size()) throw nb::index_error("no such string");
                 const auto text = s[id];
                 return nb::str(text.data(), text.size());
             })
        .def(
            "add", [](StringTable& s, std::string_view text) { return s.add(text); }, "text"_a)
        .def(
            "find", [](const StringTable& s, std::string_view text) { return s.find(text); }, "text"_a)
        .def(
            "add_all",
            [](StringTable& s, const nb::list& texts) {
                std::vector<int32_t> ids;
                ids.reserve(texts.size());
                for (nb::handle h : texts) ids.push_back(s.add(text_of(h)));
                return to_numpy(std::move(ids));
            },
            "texts"_a)
        .def(
            "get_all",
            [](const StringTable& s, const In<int32_t>& ids) {
                nb::list out;
                for (size_t i = 0; i < ids.size(); ++i) {
                    require(ids(i) >= 0 && ids(i) < s.size(), "no such string");
                    const auto text = s[ids(i)];
                    out.append(nb::str(text.data(), text.size()));
                }
                return out;
            },
            "ids"_a)
        .def("copy", [](const StringTable& s) { return StringTable(s); })
        .def(
            "pack",
            [](const StringTable& s, const In<int32_t>& ids) {
                std::vector<uint8_t> bytes;
                std::vector<int64_t> start{0};
                for (size_t i = 0; i < ids.size(); ++i) {
                    require(ids(i) >= 0 && ids(i) < s.size(), "no such string");
                    const auto text = s[ids(i)];
                    bytes.insert(bytes.end(), text.begin(), text.end());
                    start.push_back(static_cast<int64_t>(bytes.size()));
                }
                return nb::make_tuple(to_numpy(std::move(bytes)), to_numpy(std::move(start)));
            },
            "ids"_a, "The bytes of the given strings, end to end, and where each starts.")
        .def_static(
            "unpack",
            [](const In<uint8_t>& bytes, const In<int64_t>& start) {
                const auto offsets = checked_offsets(start, static_cast<int64_t>(bytes.size()));
                StringTable s;
                for (size_t i = 0; i + 1 < offsets.size(); ++i) {
                    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + offsets[i],
                                                offsets[i + 1] - offsets[i]);
                    require(valid_utf8(text), "a string is not valid UTF-8");
                    require(s.add(text) == static_cast<int32_t>(i), "a string is there twice");
                }
                return s;
            },
            "bytes"_a, "start"_a);

    nb::class_<ColumnReader>(m, "ColumnReader")
        .def(nb::init<StringTable&, char, std::string, bool, bool, int32_t>(), "strings"_a, "separator"_a, "comment"_a,
             "keep_lines"_a, "learn"_a = true, "wanted"_a = 0, nb::keep_alive<1, 2>())
        .def(
            "feed",
            [](ColumnReader& r, const nb::bytes& block) { return reading(block, [&](auto text) { r.feed(text); }); },
            "block"_a)
        .def(
            "feed_sequences",
            [](ColumnReader& r, const nb::bytes& block, Threads threads) {
                return reading(block, [&](auto text) { r.feed_sequences(text, threads); });
            },
            "block"_a, "threads"_a)
        .def("finish",
             [](ColumnReader& r) -> Mistake {
                 try {
                     r.finish();
                 } catch (const ColumnError& e) { return std::pair{e.line, std::string(e.what())}; }
                 return std::nullopt;
             })
        .def("clear", &ColumnReader::clear)
        .def_prop_ro("n_columns", &ColumnReader::n_columns)
        .def_prop_ro("lines_read", &ColumnReader::lines_read)
        .def("columns",
             [](const ColumnReader& r) {  // [column][token]
                 const auto C = static_cast<size_t>(std::max(r.n_columns(), 1));
                 const auto parts = r.parts();
                 size_t T = 0;
                 for (const ColumnReader* part : parts) T += part->ids().size() / C;
                 std::vector<int32_t> out(C * T);
                 size_t first = 0;
                 for (const ColumnReader* part : parts) {
                     const auto& ids = part->ids();
                     for (size_t c = 0; c < C; ++c)
                         for (size_t t = 0; t < ids.size() / C; ++t) out[c * T + first + t] = ids[t * C + c];
                     first += ids.size() / C;
                 }
                 return to_numpy(std::move(out), {C, T});
             })
        .def("lengths", [](const ColumnReader& r) { return to_numpy(joined(r, &ColumnReader::lengths)); })
        .def("lines", [](const ColumnReader& r) {
            return nb::make_tuple(to_numpy(joined(r, &ColumnReader::line_start)),
                                  to_numpy(joined(r, &ColumnReader::line_end)));
        });
    m.def(
        "count_lines",
        [](const nb::bytes& block) { return std::count(block.c_str(), block.c_str() + block.size(), '\n'); }, "block"_a,
        "How many lines end in a block.");
    m.def("label_lines", &label_lines, "block"_a, "start"_a, "end"_a, "lengths"_a, "labels"_a, "names"_a,
          "threads"_a = 1, "The lines of a block with a label appended to each, sequences separated by blank lines.");

    m.def(
        "collect_items",
        [](const nb::object& sequences, StringTable& names, bool learn, double largest) {
            ItemCollector collector(names, learn, largest);
            std::vector<int32_t> lengths;
            int64_t sequence_number = 0, token_number = 0;
            try {
                for (nb::handle sequence : sequences) {
                    token_number = 0;
                    ItemCollector::check_sequence(sequence);
                    for (nb::handle item : nb::borrow<nb::object>(sequence)) {
                        collector.token(item);
                        ++token_number;
                    }
                    lengths.push_back(static_cast<int32_t>(token_number));
                    ++sequence_number;
                }
            } catch (const ItemCollector::NoSequence& e) {
                throw std::invalid_argument("sequence " + std::to_string(sequence_number) + " " + e.what());
            } catch (const nb::builtin_exception& e) {
                throw std::invalid_argument("sequence " + std::to_string(sequence_number) + ", token "
                                            + std::to_string(token_number) + ": " + e.what());
            } catch (const std::invalid_argument& e) {
                throw std::invalid_argument("sequence " + std::to_string(sequence_number) + ", token "
                                            + std::to_string(token_number) + ": " + e.what());
            }
            Csr rows = collector.finish();
            nb::object value = nb::none();
            if (!rows.value.empty()) value = nb::cast(to_numpy(std::move(rows.value)));
            return nb::make_tuple(to_numpy(std::move(rows.start)), to_numpy(std::move(rows.index)), value,
                                  to_numpy(std::move(lengths)));
        },
        "sequences"_a, "names"_a, "learn"_a, "largest"_a,
        "Feature dictionaries → compressed sparse rows of attributes.");

    nb::class_<Extractor>(m, "Extractor")
        .def(
            "__init__",
            [](Extractor* self, const In2<int32_t>& tests, const In<int32_t>& start, const In<int32_t>& skeleton) {
                new (self) Extractor(checked_extractor(tests, start, skeleton));
            },
            "tests"_a, "start"_a, "skeleton"_a)
        .def_prop_ro("n_attributes", &Extractor::n_attributes)
        .def_prop_ro(
            "offsets", [](const Extractor& e) { return to_numpy(std::vector<int64_t>(e.offsets())); },
            nb::rv_policy::move)
        .def(
            "tuples",
            [](const Extractor& e, int32_t skeleton) {
                require(skeleton >= 0 && skeleton < e.n_skeletons(), "no such skeleton");
                const TupleTable& table = e.table(skeleton);
                return to_numpy(std::vector<int32_t>(table.tuples()),
                                {static_cast<size_t>(table.size()), static_cast<size_t>(table.arity())});
            },
            "skeleton"_a)
        .def(
            "load",
            [](Extractor& e, int32_t skeleton, const In2<int32_t>& tuples) {
                require(skeleton >= 0 && skeleton < e.n_skeletons(), "no such skeleton");
                require(tuples.shape(1) == static_cast<size_t>(e.table(skeleton).arity()),
                        "tuples have the wrong width");
                e.load(skeleton, tuples.data(), static_cast<int64_t>(tuples.shape(0)));
            },
            "skeleton"_a, "tuples"_a)
        // inputs [n_inputs][T]; before, after [n_inputs][reach]. Learning gives a table [T][n_templates].
        .def(
            "learn",
            [](Extractor& e, const In2<int32_t>& inputs, const In2<int32_t>& before, const In2<int32_t>& after,
               const In<int64_t>& offsets, int32_t skip, Threads threads) {
                const ExtractorInput given(inputs, before, after, offsets, skip, e);
                std::vector<int32_t> out(inputs.shape(1) * e.n_templates());
                {
                    nb::gil_scoped_release free;
                    e.learn(given.inputs, given.sequences, out.data(), threads);
                }
                return to_numpy(std::move(out), {inputs.shape(1), static_cast<size_t>(e.n_templates())});
            },
            "inputs"_a, "before"_a, "after"_a, "offsets"_a, "skip"_a, "threads"_a)
        // Known attributes as compressed sparse rows.
        .def(
            "apply",
            [](const Extractor& e, const In2<int32_t>& inputs, const In2<int32_t>& before, const In2<int32_t>& after,
               const In<int64_t>& offsets, int32_t skip, Threads threads) {
                const ExtractorInput given(inputs, before, after, offsets, skip, e);
                Csr rows;
                {
                    nb::gil_scoped_release free;
                    rows = e.apply(given.inputs, given.sequences, threads);
                }
                return nb::make_tuple(to_numpy(std::move(rows.start)), to_numpy(std::move(rows.index)));
            },
            "inputs"_a, "before"_a, "after"_a, "offsets"_a, "skip"_a, "threads"_a);
}
