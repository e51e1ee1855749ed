// Template expansion over interned columns: at every token, every template reads a few ids (its tests) and
// the tuple of ids is an attribute. Templates with the same skeleton share attributes (CRF++'s
// bag-of-words trick), so an attribute is (skeleton, tuple). Attributes are numbered skeleton by skeleton,
// in order of first occurrence: a template's attributes are one contiguous range.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/threads.hpp"
#include "input/tuple_table.hpp"
#include "maps/csr.hpp"

namespace parsimon {

// What a template looks at: an input (a column after its transform) at a row relative to the token, or, when
// absolute, counted from the first token (1, 2, …) or from the last (−1, −2, …), as Wapiti counts.
struct TemplateTest {
    int32_t input;
    int32_t offset;
    bool absolute;
};

class Extractor {
  public:
    // tests of template j: tests[start[j] .. start[j+1]); templates with equal skeleton number share attributes.
    Extractor(std::vector<TemplateTest> tests, std::vector<int32_t> start, std::vector<int32_t> skeleton)
        : tests_(std::move(tests)), start_(std::move(start)), skeleton_(std::move(skeleton)) {
        int32_t n = 0;
        for (int32_t s : skeleton_) n = std::max(n, s + 1);
        std::vector<int32_t> arity(n, 0);
        for (int32_t j = 0; j < n_templates(); ++j) arity[skeleton_[j]] = start_[j + 1] - start_[j];
        for (int32_t a : arity) tables_.emplace_back(a);
        offsets_.assign(n + 1, 0);
    }

    int32_t n_templates() const { return static_cast<int32_t>(skeleton_.size()); }
    // How many inputs the tests look at.
    int64_t n_inputs() const {
        int64_t n = 0;
        for (const TemplateTest& test : tests_) n = std::max<int64_t>(n, int64_t{test.input} + 1);
        return n;
    }
    int32_t n_skeletons() const { return static_cast<int32_t>(tables_.size()); }
    int64_t n_attributes() const { return offsets_.back(); }
    const std::vector<int64_t>& offsets() const { return offsets_; }  // first attribute of each skeleton
    const TupleTable& table(int32_t skeleton) const { return tables_[skeleton]; }
    // Of one template: what it looks at, and its attributes.
    std::vector<TemplateTest> tests(int32_t j) const {
        return {tests_.begin() + start_[j], tests_.begin() + start_[j + 1]};
    }
    const TupleTable& table_of(int32_t j) const { return tables_[skeleton_[j]]; }
    int64_t first_attribute(int32_t j) const { return offsets_[skeleton_[j]]; }

    // The columns that templates look at, and what they see before the first and after the last token.
    struct Input {
        const int32_t* ids;     // [n_tokens]
        const int32_t* before;  // [reach]: one, two, … tokens before the first
        const int32_t* after;   // [reach]
    };
    struct Sequences {
        const int64_t* offsets;  // [n_sequences + 1]
        int64_t n_sequences;
        int32_t reach;
        int32_t skip;  // tokens at the start of each sequence where nothing is expanded (1 for label pairs)

        // What there is in a row of a sequence, which may lie beyond its ends.
        int32_t at(const Input& input, int64_t begin, int64_t length, int64_t row) const {
            if (row < 0) return input.before[std::min<int64_t>(-row, reach) - 1];
            if (row >= length) return input.after[std::min<int64_t>(row - length + 1, reach) - 1];
            return input.ids[begin + row];
        }
    };

    // Expands all templates and learns new attributes. out: [n_tokens][n_templates], −1 where skipped.
    // Skeletons are independent, so they are what threads share out.
    void learn(const std::vector<Input>& inputs, const Sequences& sequences, int32_t* out, int threads) {
        parallel_for(n_skeletons(), threads, [&](int64_t s, int) {
            for (int32_t j = 0; j < n_templates(); ++j)
                if (skeleton_[j] == s) learn_template(j, inputs, sequences, out);
        });
        find_offsets();
        number(sequences.offsets[sequences.n_sequences], out, threads);
    }

    // The same without learning: the known attributes of every token, as compressed sparse rows. Templates of which
    // no attribute is left are not expanded at all.
    Csr apply(const std::vector<Input>& inputs, const Sequences& sequences, int threads) const {
        std::vector<int32_t> alive;
        for (int32_t j = 0; j < n_templates(); ++j)
            if (tables_[skeleton_[j]].size()) alive.push_back(j);
        const auto cuts = balanced_cuts(sequences.offsets, sequences.n_sequences, 8 * threads);
        const auto n_pieces = static_cast<int64_t>(cuts.size()) - 1;
        std::vector<std::vector<int32_t>> found(n_pieces);
        Csr rows;
        rows.start.assign(sequences.offsets[sequences.n_sequences] + 1, 0);
        parallel_for(n_pieces, threads, [&](int64_t piece, int) {
            std::vector<int32_t>& index = found[piece];
            std::vector<int32_t> tuple(longest_tuple());
            for (int64_t i = cuts[piece]; i < cuts[piece + 1]; ++i) {
                const int64_t begin = sequences.offsets[i], length = sequences.offsets[i + 1] - begin;
                for (int64_t t = 0; t < length; ++t) {
                    const size_t before = index.size();
                    for (const int32_t j : alive) {
                        if (t < sequences.skip) break;
                        read_tuple(j, inputs, sequences, begin, length, t, tuple.data());
                        const int32_t id = tables_[skeleton_[j]].find(tuple.data());
                        if (id >= 0) index.push_back(id + static_cast<int32_t>(offsets_[skeleton_[j]]));
                    }
                    rows.start[begin + t + 1] = static_cast<int64_t>(index.size() - before);
                }
            }
        });
        for (size_t t = 1; t < rows.start.size(); ++t) rows.start[t] += rows.start[t - 1];
        rows.index.resize(rows.start.back());
        parallel_for(n_pieces, threads, [&](int64_t piece, int) {
            std::copy(found[piece].begin(), found[piece].end(),
                      rows.index.begin() + rows.start[sequences.offsets[cuts[piece]]]);
        });
        return rows;
    }

    // The attribute of template j at token t of a sequence; −1 if it is not known.
    int64_t find(int32_t j, const std::vector<Input>& inputs, const Sequences& sequences, int64_t begin, int64_t length,
                 int64_t t) const {
        thread_local std::vector<int32_t> tuple;
        tuple.resize(std::max(tuple.size(), longest_tuple()));
        read_tuple(j, inputs, sequences, begin, length, t, tuple.data());
        const int32_t id = table_of(j).find(tuple.data());
        return id < 0 ? -1 : first_attribute(j) + id;
    }

    // Puts in the attributes of a saved model, skeleton by skeleton.
    void load(int32_t skeleton, const int32_t* tuples, int64_t n) {
        TupleTable& table = tables_[skeleton];
        for (int64_t i = 0; i < n; ++i)
            if (table.add(tuples + i * table.arity()) != i) throw std::invalid_argument("an attribute is there twice");
        find_offsets();
    }

  private:
    void find_offsets() {
        for (int32_t s = 0; s < n_skeletons(); ++s) offsets_[s + 1] = offsets_[s] + tables_[s].size();
        if (offsets_.back() > std::numeric_limits<int32_t>::max())
            throw std::length_error("more than 2^31 attributes; use fewer templates or a cut-off");
    }

    size_t longest_tuple() const {
        int32_t longest = 1;
        for (int32_t j = 0; j < n_templates(); ++j) longest = std::max(longest, start_[j + 1] - start_[j]);
        return static_cast<size_t>(longest);
    }

    // What template j sees at token t of a sequence.
    void read_tuple(int32_t j, const std::vector<Input>& inputs, const Sequences& sequences, int64_t begin,
                    int64_t length, int64_t t, int32_t* tuple) const {
        for (int32_t k = start_[j]; k < start_[j + 1]; ++k) {
            const TemplateTest& test = tests_[k];
            int64_t row = test.offset;
            if (!test.absolute) row += t;
            else row += row < 0 ? length : -1;
            *tuple++ = sequences.at(inputs[test.input], begin, length, row);
        }
    }

    void learn_template(int32_t j, const std::vector<Input>& inputs, const Sequences& sequences, int32_t* out) {
        TupleTable& table = tables_[skeleton_[j]];
        const int64_t n = n_templates();
        std::vector<int32_t> tuple(longest_tuple());
        for (int64_t i = 0; i < sequences.n_sequences; ++i) {
            const int64_t begin = sequences.offsets[i], length = sequences.offsets[i + 1] - begin;
            for (int64_t t = 0; t < length; ++t) {
                int32_t& slot = out[(begin + t) * n + j];
                if (t < sequences.skip) {
                    slot = -1;
                    continue;
                }
                read_tuple(j, inputs, sequences, begin, length, t, tuple.data());
                slot = table.add(tuple.data());
            }
        }
    }

    // From numbers within a skeleton to attribute numbers.
    void number(int64_t n_tokens, int32_t* out, int threads) const {
        const int64_t n = n_templates(), grain = 4096;
        std::vector<int32_t> shift(n);
        for (int64_t j = 0; j < n; ++j) shift[j] = static_cast<int32_t>(offsets_[skeleton_[j]]);
        parallel_for((n_tokens + grain - 1) / grain, threads, [&](int64_t piece, int) {
            const int64_t last = std::min(n_tokens, (piece + 1) * grain);
            for (int64_t t = piece * grain; t < last; ++t)
                for (int64_t j = 0; j < n; ++j)
                    if (out[t * n + j] >= 0) out[t * n + j] += shift[j];
        });
    }

    std::vector<TemplateTest> tests_;
    std::vector<int32_t> start_, skeleton_;
    std::vector<TupleTable> tables_;
    std::vector<int64_t> offsets_;
};

}  // namespace parsimon
