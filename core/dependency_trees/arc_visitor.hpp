// The attributes of all arcs of a sentence, expanded whenever they are needed and never stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dependency_trees/arc_dictionary.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arc_token_cells.hpp"
#include "dependency_trees/arcs.hpp"
#include "input/attribute_table.hpp"

namespace parsimon {

// Goes through the attributes of all arcs of a sentence, template by template. One for each thread.
class ArcVisitor {
  public:
    struct Hit {
        int32_t cell, attribute;
    };

    ArcVisitor(const ArcDictionary& dictionary, const ArcSentences& sentences)
        : dictionary_(&dictionary), sentences_(&sentences) {
        for (int s = 0; s < 2; ++s) keys_[s].resize(dictionary.sides(s).size());
        between_.resize(sentences.n_columns());
    }

    void begin(int64_t i) {
        sentence_ = i;
        n_ = sentences_->length(i);
        ++stamp_;
    }

    // consume(cells, hits, n): the attributes of a template that fire, and in which cells, those of arcs or of tokens.
    // It is about to look at `numbers`, one an attribute (or null).
    template <class Consume>
    void visit(int32_t t, double* arcs, ArcTokenCells& tokens, const double* numbers, Consume&& consume) {
        const AttributeTable& table = dictionary_->table(t);
        if (!table.size() || !n_) return;
        const ArcTemplate& what = (*dictionary_)[t];
        if (what.between < 0 && (what.side[0].empty() || what.side[1].empty())) {
            const int s = what.side[0].empty();
            Sink<Consume> sink{*this, table, tokens.of(s, sentence_), numbers, consume};
            of_tokens(what, s, keys(s, t), sink);
        } else {
            Sink<Consume> sink{*this, table, arcs, numbers, consume};
            const Keys &head = keys(0, t), &modifier = keys(1, t);
            if (what.between < 0 && head.start.empty() && modifier.start.empty())
                of_arcs<false>(t, head, modifier, sink);
            else of_arcs<true>(t, head, modifier, sink);
        }
    }

  private:
    // The keys of one end of the arc, for every place in the sentence.
    struct Keys {
        int64_t stamp = -1;
        std::vector<uint64_t> key;
        std::vector<int32_t> start;  // [n + 2]; empty when every place has one

        int32_t begin(int32_t p) const { return start.empty() ? p : start[p]; }
        int32_t end(int32_t p) const { return start.empty() ? p + 1 : start[p + 1]; }
    };

    // The keys of all different values that a column has between two places. From a modifier outwards, what is between
    // it and a head is also between it and the next one, so a list for either side of it and a number an arc are
    // enough.
    struct Between {
        int64_t stamp = -1;
        std::vector<uint64_t> key;
        std::vector<int32_t> start[2];  // by modifier: on its left, on its right
        std::vector<int32_t> count;     // by arc

        std::span<const uint64_t> of(int32_t m, int32_t h, int32_t arc) const {
            return {key.data() + start[h > m][m], static_cast<size_t>(count[arc])};
        }
    };

    const Between& between_of(int32_t column) {
        Between& out = between_[column];
        if (out.stamp == stamp_) return out;
        out.stamp = stamp_;
        out.key.clear();
        out.count.resize(static_cast<size_t>(n_) * (n_ + 1));
        for (auto& start : out.start) start.resize(n_ + 1);
        for (int32_t m = 1; m <= n_; ++m)
            for (const int32_t step : {-1, 1}) {
                const size_t first = out.key.size();
                out.start[step > 0][m] = static_cast<int32_t>(first);
                for (int32_t h = m + step; h >= 0 && h <= n_; h += step) {
                    out.count[arc_at(n_, h, m)] = static_cast<int32_t>(out.key.size() - first);
                    if (h == 0) break;
                    for (const int32_t v : sentences_->values(column, sentence_, h)) {
                        const uint64_t b = arc_key::between(v);
                        if (std::find(out.key.begin() + first, out.key.end(), b) == out.key.end()) out.key.push_back(b);
                    }
                }
            }
        return out;
    }

    // Takes keys, drops those that the filter knows not to be there, and looks the others up, many at a time: memory is
    // asked for all of them before any is looked at, for waiting is what costs most.
    template <class Consume>
    struct Sink {
        ArcVisitor& visitor;
        const AttributeTable& table;
        double* cells;
        const double* numbers;
        Consume& consume;
        int32_t pending = 0;

        void operator()(int32_t cell, uint64_t key) {
            table.prefetch_filter(key);
            visitor.pending_key_[pending] = key;
            visitor.pending_cell_[pending] = cell;
            if (++pending == most) flush();
        }
        void flush() {
            uint64_t* key = visitor.pending_key_;
            int32_t* cell = visitor.pending_cell_;
            int32_t left = 0;
            for (int32_t j = 0; j < pending; ++j) {
                const bool maybe = table.maybe(key[j]);
                if (maybe) table.prefetch(key[j]);
                key[left] = key[j];
                cell[left] = cell[j];
                left += maybe;
            }
            int32_t n = 0;
            for (int32_t j = 0; j < left; ++j) {
                const int32_t a = table.find(key[j]);
                if (a < 0) continue;
                if (numbers) __builtin_prefetch(numbers + a);
                visitor.hits_[n++] = {cell[j], a};
            }
            pending = 0;
            if (n) consume(cells, static_cast<const Hit*>(visitor.hits_), n);
        }
    };

    const Keys& keys(int s, int32_t t) {
        Keys& out = keys_[s][dictionary_->side_of(s, t)];
        if (out.stamp == stamp_) return out;
        out.stamp = stamp_;
        const std::vector<ArcTest>& tests = (*dictionary_)[t].side[s];
        const bool single = std::all_of(tests.begin(), tests.end(),
                                        [&](const ArcTest& test) { return sentences_->single(test.column); });
        out.key.clear();
        out.start.clear();
        if (!single) out.start.push_back(0);
        for (int32_t p = 0; p <= n_; ++p) {
            const size_t first = out.key.size();
            out.key.push_back(arc_key::begin[s]);
            for (const ArcTest& test : tests) {
                const auto values = sentences_->values(test.column, sentence_, p + test.offset);
                const size_t n = out.key.size() - first;
                if (values.empty()) {
                    out.key.resize(first);
                    break;
                }
                for (size_t v = values.size(); v-- > 0;)  // the first one last: it takes the place of what there is
                    for (size_t k = 0; k < n; ++k) {
                        const uint64_t h = arc_key::mixed(out.key[first + k], static_cast<uint32_t>(values[v]));
                        if (v) out.key.push_back(h);
                        else out.key[first + k] = h;
                    }
            }
            for (size_t k = first; k < out.key.size(); ++k)
                out.key[k] = tests.empty() ? 0 : arc_key::finished(out.key[k]);
            if (!single) out.start.push_back(static_cast<int32_t>(out.key.size()));
        }
        return out;
    }

    void find_codes(const ArcTemplate& what) {
        const bool any = what.direction || what.length;
        for (int32_t seen = 0; seen < what.n_seen(); ++seen) code_[seen] = any ? arc_key::code(seen) : 0;
    }

    template <class Push>
    void of_tokens(const ArcTemplate& what, int s, const Keys& keys, Push& push) {
        find_codes(what);
        const int32_t place = ArcTokenCells::place(what.direction, what.length);
        for (int32_t p = s; p <= n_; ++p) {
            const uint32_t seen = seen_by(what, s, p);
            for (int32_t k = keys.begin(p); k < keys.end(p); ++k)
                for (int32_t c = 0; c < what.n_seen(); ++c)
                    if (seen >> c & 1) push(p * ArcTokenCells::width + place + c, keys.key[k] + code_[c]);
        }
        push.flush();
    }

    // Which codes a template sees of all arcs from (s = 0) or into a token, as bits.
    uint32_t seen_by(const ArcTemplate& what, int s, int32_t p) const {
        const auto up_to = [](int32_t length) { return length > 0 ? (2u << ArcLengths::bucket(length)) - 1 : 0u; };
        const uint32_t at_root = n_ > 0 ? 1u << ArcLengths::from_root : 0u;
        uint32_t right, left;  // directions from head to modifier
        if (s == 0) {
            right = p ? up_to(n_ - p) : at_root;
            left = p ? up_to(p - 1) : 0u;
        } else {
            right = up_to(p - 1) | at_root;
            left = up_to(n_ - p);
        }
        if (what.direction) return what.length ? right | left << ArcLengths::n : (right ? 1u : 0u) | (left ? 2u : 0u);
        return what.length ? right | left : (right | left ? 1u : 0u);
    }

    template <bool lists, class Push>
    void of_arcs(int32_t t, const Keys& head, const Keys& modifier, Push& push) {
        const ArcTemplate& what = (*dictionary_)[t];
        find_codes(what);
        by_distance_.resize(2 * n_ + 1);
        uint64_t* code = by_distance_.data() + n_;  // of modifier − head
        for (int32_t d = 1; d < n_; ++d) {
            code[d] = code_[what.seen(ArcLengths::bucket(d))];
            code[-d] = code_[what.seen(ArcLengths::n + ArcLengths::bucket(d))];
        }
        const uint64_t from_root = code_[what.seen(ArcLengths::from_root)];
        const Between* between = lists && what.between >= 0 ? &between_of(what.between) : nullptr;
        static constexpr uint64_t zero[] = {0};
        const std::span<const uint64_t> nothing_between(zero);  // and nothing to add to the key
        for (int32_t m = 1; m <= n_; ++m) {
            const auto cell = static_cast<int32_t>(arc_at(n_, 0, m));
            if constexpr (!lists) {
                const uint64_t key = modifier.key[m];
                push(cell, key + head.key[0] + from_root);
                for (int32_t h = 1; h < m; ++h) push(cell + h, key + head.key[h] + code[m - h]);
                for (int32_t h = m + 1; h <= n_; ++h) push(cell + h, key + head.key[h] + code[m - h]);
            } else {
                for (int32_t h = 0; h <= n_; ++h) {
                    if (h == m) continue;
                    const std::span<const uint64_t> values = between ? between->of(m, h, cell + h) : nothing_between;
                    if (values.empty()) continue;
                    const uint64_t of_code = h ? code[m - h] : from_root;
                    for (int32_t j = modifier.begin(m); j < modifier.end(m); ++j)
                        for (int32_t k = head.begin(h); k < head.end(h); ++k) {
                            const uint64_t ends = modifier.key[j] + head.key[k] + of_code;
                            if (between && !dictionary_->maybe_between(t, ends)) continue;
                            for (const uint64_t value : values) push(cell + h, ends + value);
                        }
                }
            }
        }
        push.flush();
    }

    static constexpr int32_t most = 128;

    const ArcDictionary* dictionary_;
    const ArcSentences* sentences_;
    int64_t sentence_ = 0, stamp_ = 0;
    int32_t n_ = 0;
    std::vector<Keys> keys_[2];
    uint64_t code_[ArcLengths::n_codes];
    std::vector<uint64_t> by_distance_;
    std::vector<Between> between_;  // by column
    uint64_t pending_key_[most];
    int32_t pending_cell_[most];
    Hit hits_[most];
};

}  // namespace parsimon
