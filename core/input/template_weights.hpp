// The weights of a model by what its templates see, for prediction: scores of labels without numbers of attributes in
// between.
//
// Templates that look at the same cells from different places, as U15:%x[-2,1]/%x[-1,1] and U16:%x[-1,1]/%x[0,1] do,
// have one *shape*. A shape is looked up once at every place of a sequence, not once for every template and token: what
// is found there is the weights of all its templates, for the tokens around that place.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "chains/label_pairs.hpp"
#include "input/attribute_table.hpp"
#include "input/extractor.hpp"
#include "maps/feature_rows.hpp"

namespace parsimon {

// Sequences as templates see them.
struct SeenTokens {
    const std::vector<Extractor::Input>& inputs;
    const Extractor::Sequences& sequences;
};

class TemplateWeights {
  public:
    // Weights of four labels side by side, most of which may be zero, and where they belong: (token − place) · stride +
    // the first label, where the place is that of a shape's first cell.
    struct Entry {
        double weight[4];
        int64_t at;
    };
    struct Cell {
        int32_t input, offset;  // from the shape's first cell
        bool operator<(const Cell& other) const {
            return offset != other.offset ? offset < other.offset : input < other.input;
        }
    };

    // Cells that some templates look at, and what they have found. Records are numbered from 1; 0 is: nothing.
    class Shape {
      public:
        explicit Shape(std::vector<Cell> cells) : cells(std::move(cells)) {}

        const std::vector<Cell> cells;
        std::vector<uint64_t> factor;  // of each cell's code in the key
        // Where the templates' first cells are, seen from their tokens.
        int32_t lowest = std::numeric_limits<int32_t>::max(), highest = std::numeric_limits<int32_t>::min();

        int32_t span() const { return cells.back().offset; }
        bool is_direct() const { return !direct_.empty(); }
        const int32_t* direct() const { return direct_.data(); }
        bool maybe(uint64_t hash) const { return filter_.maybe(hash); }
        int32_t find(uint64_t key, uint64_t hash) const {
            const uint64_t mask = slots_.size() - 1;
            for (uint64_t at = hash >> 20 & mask;; at = (at + 1) & mask)
                if (slots_[at].key == key || !slots_[at].record) return slots_[at].record;
        }
        const Entry* begin(int32_t record) const { return entries_.data() + start_[record]; }
        const Entry* end(int32_t record) const { return entries_.data() + start_[record + 1]; }

        static uint64_t hash(uint64_t key) {
            const uint64_t h = key * 0x9E3779B97F4A7C15ull;
            return (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
        }

      private:
        friend class TemplateWeights;
        struct Slot {
            uint64_t key;
            int32_t record;
        };

        // Makes room for so many keys out of n_keys that there could be. Few possible keys number a table by
        // themselves.
        void reserve(int64_t n, uint64_t n_keys) {
            constexpr uint64_t few = 1 << 17;
            if (n_keys <= few || cells.size() == 1) {
                direct_.assign(n_keys, 0);
                return;
            }
            slots_.assign(std::bit_ceil(static_cast<uint64_t>(n) * 2 + 1), {0, 0});
            filter_ = KeyFilter(n);
        }

        // The record of a key, which is made if there is none.
        int32_t add(uint64_t key) {
            if (is_direct()) return direct_[key] ? direct_[key] : direct_[key] = ++n_records_;
            const uint64_t h = hash(key), mask = slots_.size() - 1;
            uint64_t at = h >> 20 & mask;
            while (slots_[at].record && slots_[at].key != key) at = (at + 1) & mask;
            if (!slots_[at].record) {
                slots_[at] = {key, ++n_records_};
                filter_.add(h);
            }
            return slots_[at].record;
        }

        int32_t n_records_ = 0;
        std::vector<int32_t> direct_;  // records by key
        std::vector<Slot> slots_;
        KeyFilter filter_;
        std::vector<int64_t> start_;  // by record
        std::vector<Entry> entries_;
    };

    // Rows of weights by one or two cells of one input that has few strings, seen from the token: with tags, four
    // such rows stand for nine templates.
    struct Table {
        int32_t input, offset, other;  // the second cell's offset; the first one's where there is one cell only
        int64_t n_codes;
        std::vector<double> rows;  // [code of the first][code of the second][stride]
    };

    // Attributes have the numbers that the extractor gives them; w has a weight for each of their features. Extractor
    // and features must outlive the object and stay as they are.
    TemplateWeights(const Extractor& extractor, const FeatureRows& features, const double* w)
        : extractor_(extractor), features_(features), weights_(w), n_labels_(features.width),
          stride_(padded(features.width)), constant_(stride_, 0.0), codes_(extractor.n_inputs()),
          n_codes_(extractor.n_inputs(), 1) {
        find_shapes();
        number_strings();
        take_tables();
        for (size_t s = 0; s < shapes_.size(); ++s) fill(shapes_[s], templates_[s]);
        for (const Shape& shape : shapes_) {
            left_ = std::max<int64_t>(left_, -shape.lowest);
            right_ = std::max<int64_t>(right_, int64_t{shape.highest} + shape.span());
            margin_ = std::max<int64_t>(margin_, int64_t{shape.highest} - shape.lowest);
        }
        for (const Table& table : tables_) {
            left_ = std::max<int64_t>(left_, -std::min(table.offset, table.other));
            right_ = std::max<int64_t>(right_, std::max(table.offset, table.other));
        }
        for (int32_t j = 0; j < extractor_.n_templates(); ++j) largest_ += largest_weight(j);
        if (others_.empty()) return;
        kept_weights_.assign(w, w + features.size());
        weights_ = kept_weights_.data();
    }

    const Extractor& extractor() const { return extractor_; }
    int64_t n_attributes() const { return features_.n_attributes; }
    int64_t n_labels() const { return n_labels_; }
    int64_t stride() const { return stride_; }
    // No score is larger than this.
    double largest() const { return largest_; }

    // Scores that every token has.
    const double* constant() const { return constant_.data(); }
    const std::vector<Table>& tables() const { return tables_; }
    const std::vector<Shape>& shapes() const { return shapes_; }
    // What an input's strings are called in keys; 0 if no attribute has them.
    int32_t code(int64_t input, int32_t id) const {
        const std::vector<int32_t>& codes = codes_[input];
        return id >= 0 && id < static_cast<int32_t>(codes.size()) ? codes[id] : 0;
    }
    bool is_seen(int64_t input) const { return n_codes_[input] > 1; }
    // How far shapes reach beyond the ends of a sequence, and how far from their places the tokens may be.
    int64_t left() const { return left_; }
    int64_t right() const { return right_; }
    int64_t margin() const { return margin_; }

    // Templates that belong to no shape, because they count from the ends of sequences or look far away; they are
    // looked up one by one.
    const std::vector<int32_t>& others() const { return others_; }
    int64_t n_weights(int64_t attribute) const {
        return features_.all ? n_labels_ : features_.start[attribute + 1] - features_.start[attribute];
    }
    template <class Add>
    void each_weight(int64_t attribute, Add&& add) const {
        if (features_.all) {
            for (int64_t y = 0; y < n_labels_; ++y) add(y, weights_[attribute * n_labels_ + y]);
            return;
        }
        for (int64_t k = features_.start[attribute]; k < features_.start[attribute + 1]; ++k)
            add(features_.column[k], weights_[k]);
    }

  private:
    // A weight, and where it belongs, as in entries.
    struct Weight {
        int64_t at;
        double weight;
    };

    // A template of a shape: where its first cell is, and in which order its tests are the shape's cells.
    struct Placed {
        int32_t number, lowest;
        std::vector<int32_t> order;
    };

    static constexpr int64_t largest_table = 1 << 16;  // numbers; several fit into a processor's cache
    static constexpr int32_t most_strings = 1 << 28;   // more than fit into memory
    static constexpr int32_t far = 64;                 // as much is computed beyond the ends of sequences

    void find_shapes() {
        std::map<std::vector<Cell>, size_t> known;
        for (int32_t j = 0; j < extractor_.n_templates(); ++j) {
            const std::vector<TemplateTest> tests = extractor_.tests(j);
            const int64_t first = extractor_.first_attribute(j);
            if (!extractor_.table_of(j).size()) continue;
            if (tests.empty()) {
                each_weight(first, [&](int64_t y, double weight) { constant_[y] += weight; });
                continue;
            }
            if (std::any_of(tests.begin(), tests.end(), [](const TemplateTest& test) {
                    return test.absolute || test.offset < -far || test.offset > far;
                })) {
                others_.push_back(j);
                continue;
            }
            Placed placed{j,
                          std::min_element(tests.begin(), tests.end(),
                                           [](const auto& a, const auto& b) { return a.offset < b.offset; })
                              ->offset,
                          {}};
            std::vector<std::pair<Cell, int32_t>> cells;
            for (size_t k = 0; k < tests.size(); ++k)
                cells.push_back({{tests[k].input, tests[k].offset - placed.lowest}, static_cast<int32_t>(k)});
            std::sort(cells.begin(), cells.end());
            std::vector<Cell> shape;
            for (const auto& [cell, k] : cells) {
                shape.push_back(cell);
                placed.order.push_back(k);
            }
            const auto [at, is_new] = known.try_emplace(shape, shapes_.size());
            if (is_new) {
                shapes_.emplace_back(shape);
                templates_.emplace_back();
            }
            Shape& its = shapes_[at->second];
            its.lowest = std::min(its.lowest, placed.lowest);
            its.highest = std::max(its.highest, placed.lowest);
            templates_[at->second].push_back(std::move(placed));
        }
    }

    // Codes of the strings that occur at each input; keys are numbers with such digits. Shapes whose keys would not fit
    // into 63 bits are taken apart.
    void number_strings() {
        for (size_t s = 0; s < shapes_.size(); ++s)
            each_cell(s, [&](int32_t input, int32_t id) {
                if (id >= most_strings) throw std::invalid_argument("the number of a string is out of range");
                std::vector<int32_t>& codes = codes_[input];
                if (id >= static_cast<int32_t>(codes.size()))
                    codes.resize(std::max<size_t>(id + size_t{1}, codes.size() * 2), 0);
                if (!codes[id]) codes[id] = n_codes_[input]++;
            });
        std::vector<Shape> shapes;
        std::vector<std::vector<Placed>> templates;
        for (size_t s = 0; s < shapes_.size(); ++s) {
            uint64_t n_keys = 1;
            bool fits = true;
            for (const Cell& cell : shapes_[s].cells) {
                const auto n = static_cast<uint64_t>(n_codes_[cell.input]);
                fits = fits && n_keys <= (1ull << 62) / n;
                shapes_[s].factor.push_back(n_keys);
                n_keys *= n;
            }
            if (!fits) {
                for (const Placed& placed : templates_[s]) others_.push_back(placed.number);
                continue;
            }
            shapes.push_back(std::move(shapes_[s]));
            templates.push_back(std::move(templates_[s]));
        }
        shapes_ = std::move(shapes);
        templates_ = std::move(templates);
    }

    // Whole tables in place of shapes of one or two neighbouring cells, where they stay small. What looks at one cell
    // goes into a table of two if it can.
    void take_tables() {
        for (const size_t arity : {2, 1})
            for (size_t s = 0; s < shapes_.size(); ++s) {
                const std::vector<Cell>& cells = shapes_[s].cells;
                if (cells.size() != arity || cells[0].input != cells.back().input) continue;
                const int64_t n = n_codes_[cells[0].input], size = (arity == 2 ? n * n : n) * stride_;
                if (size > largest_table || (arity == 2 && cells[0].offset == cells[1].offset)) continue;
                for (const Placed& placed : templates_[s]) put_into_table(shapes_[s], placed, size);
                templates_[s].clear();
            }
        std::vector<Shape> shapes;
        std::vector<std::vector<Placed>> templates;
        for (size_t s = 0; s < shapes_.size(); ++s) {
            if (templates_[s].empty()) continue;
            shapes.push_back(std::move(shapes_[s]));
            templates.push_back(std::move(templates_[s]));
        }
        shapes_ = std::move(shapes);
        templates_ = std::move(templates);
    }

    void put_into_table(const Shape& shape, const Placed& placed, int64_t size) {
        const int32_t input = shape.cells[0].input, first = placed.lowest, last = placed.lowest + shape.span();
        const bool pair = shape.cells.size() == 2;
        auto at = std::find_if(tables_.begin(), tables_.end(), [&](const Table& table) {
            return table.input == input
                   && (pair ? table.offset == first && table.other == last
                            : table.offset == first || table.other == first);
        });
        const int64_t n = n_codes_[input];
        if (at == tables_.end()) {
            tables_.push_back({input, first, last, n, std::vector<double>(size, 0.0)});
            at = tables_.end() - 1;
        }
        const TupleTable& table = extractor_.table_of(placed.number);
        const int64_t attribute = extractor_.first_attribute(placed.number);
        for (int64_t i = 0; i < table.size(); ++i) {
            if (!can_be_met(table, i)) continue;
            const int32_t* tuple = table.tuples().data() + i * table.arity();
            const int64_t a = code(input, tuple[placed.order[0]]);
            const auto add = [&](int64_t place) {
                each_weight(attribute + i, [&](int64_t y, double weight) { at->rows[place * stride_ + y] += weight; });
            };
            if (pair) add(a * n + code(input, tuple[placed.order[1]]));
            else if (at->offset == at->other) add(a);
            else
                for (int64_t b = 0; b < n; ++b) add(at->offset == first ? a * n + b : b * n + a);
        }
    }

    template <class Body>
    void each_cell(size_t s, Body&& body) const {
        for (const Placed& placed : templates_[s]) {
            const TupleTable& table = extractor_.table_of(placed.number);
            for (int64_t i = 0; i < table.size(); ++i)
                for (size_t k = 0; k < placed.order.size() && can_be_met(table, i); ++k)
                    body(shapes_[s].cells[k].input, table.tuples()[i * table.arity() + placed.order[k]]);
        }
    }

    // No token has the number of an unknown string.
    static bool can_be_met(const TupleTable& table, int64_t i) {
        const auto tuple = table.tuples().begin() + i * table.arity();
        return std::none_of(tuple, tuple + table.arity(), [](int32_t id) { return id < 0; });
    }

    void fill(Shape& shape, const std::vector<Placed>& templates) {
        uint64_t n_keys = 1;
        for (const Cell& cell : shape.cells) n_keys *= static_cast<uint64_t>(n_codes_[cell.input]);
        int64_t n_tuples = 0;
        for (const Placed& placed : templates) n_tuples += extractor_.table_of(placed.number).size();
        shape.reserve(n_tuples, n_keys);
        std::vector<int32_t> record;  // of every tuple
        record.reserve(n_tuples);
        std::vector<int64_t> start{0, 0};  // of every record, shifted by one
        for (const Placed& placed : templates) {
            const TupleTable& table = extractor_.table_of(placed.number);
            const int64_t first = extractor_.first_attribute(placed.number);
            for (int64_t i = 0; i < table.size(); ++i) {
                if (!can_be_met(table, i)) {
                    record.push_back(-1);
                    continue;
                }
                const int32_t* tuple = table.tuples().data() + i * table.arity();
                uint64_t key = 0;
                for (size_t k = 0; k < placed.order.size(); ++k)
                    key += shape.factor[k] * static_cast<uint64_t>(code(shape.cells[k].input, tuple[placed.order[k]]));
                record.push_back(shape.add(key));
                if (static_cast<int64_t>(start.size()) < record.back() + 2) start.push_back(0);
                start[record.back() + 1] += n_weights(first + i);
            }
        }
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<Weight> weights(start.back());
        std::vector<int64_t> next(start.begin(), start.end() - 1);
        size_t at = 0;
        for (const Placed& placed : templates) {
            const int64_t first = extractor_.first_attribute(placed.number);
            for (int64_t i = 0; i < extractor_.table_of(placed.number).size(); ++i, ++at) {
                if (record[at] < 0) continue;
                each_weight(first + i, [&](int64_t y, double weight) {
                    weights[next[record[at]]++] = {-placed.lowest * stride_ + y, weight};
                });
            }
        }
        shape.start_.push_back(0);
        for (size_t r = 0; r + 1 < start.size(); ++r) {
            put(shape, weights.data() + start[r], weights.data() + start[r + 1]);
            shape.start_.push_back(static_cast<int64_t>(shape.entries_.size()));
        }
    }

    // A record, four labels at a time.
    void put(Shape& shape, Weight* first, Weight* last) {
        std::stable_sort(first, last, [](const Weight& a, const Weight& b) { return a.at < b.at; });
        const size_t begin = shape.entries_.size();
        for (; first < last; ++first) {
            const int64_t lane = first->at & 3, at = first->at - lane;  // also of negative numbers
            if (shape.entries_.size() == begin || shape.entries_.back().at != at) shape.entries_.push_back({{}, at});
            shape.entries_.back().weight[lane] += first->weight;
        }
    }

    double largest_weight(int32_t j) const {
        double largest = 0;
        for (int64_t i = 0; i < extractor_.table_of(j).size(); ++i)
            each_weight(extractor_.first_attribute(j) + i,
                        [&](int64_t, double weight) { largest = std::max(largest, std::fabs(weight)); });
        return largest;
    }

    const Extractor& extractor_;
    const FeatureRows& features_;
    const double* weights_;
    std::vector<double> kept_weights_;  // where some are still looked up
    int64_t n_labels_, stride_;
    std::vector<double> constant_;
    std::vector<Table> tables_;
    std::vector<Shape> shapes_;
    std::vector<std::vector<Placed>> templates_;  // of each shape
    std::vector<std::vector<int32_t>> codes_;     // [input][string]
    std::vector<int32_t> n_codes_;                // with 0
    std::vector<int32_t> others_;
    int64_t left_ = 0, right_ = 0, margin_ = 0;
    double largest_ = 0;
};

}  // namespace parsimon
