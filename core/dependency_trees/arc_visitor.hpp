// The attributes of the arcs of some sentences, expanded whenever they are needed and never stored.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "dependency_trees/arc_dictionary.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arc_token_cells.hpp"
#include "dependency_trees/arcs.hpp"
#include "input/attribute_table.hpp"

namespace parsimon {

// Goes through the attributes of the arcs of a range of sentences, template by template: a template's table stays in
// the cache meanwhile, and what templates share (the keys of an end, what is between) is found once. One for each
// thread.
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

    // Cells of arcs count from those of the first sentence.
    void begin(int64_t first, int64_t last) {
        first_ = first;
        last_ = last;
        ++stamp_;
        arcs_.clear();
        for (auto& codes : codes_) codes.assign(n_places(), 0);
        for (int64_t i = first; i < last; ++i) {
            const int32_t n = sentences_->length(i), place = place_of(i);
            const auto cell = static_cast<int32_t>(sentences_->arcs()[i] - sentences_->arcs()[first]);
            for (int32_t m = 1; m <= n; ++m) {
                const auto see = [&](int32_t h) {
                    const int32_t code = ArcLengths::code(h, m);
                    arcs_.push_back({cell + static_cast<int32_t>(arc_at(n, h, m)), place + h, place + m, code});
                    codes_[0][place + h] |= 1u << code;
                    codes_[1][place + m] |= 1u << code;
                };
                if (sentences_->all_arcs()) {
                    for (int32_t h = 0; h < m; ++h) see(h);
                    for (int32_t h = m + 1; h <= n; ++h) see(h);
                } else {
                    for (const int32_t h : sentences_->heads(sentences_->offsets()[i] + m - 1)) see(h);
                }
            }
        }
    }

    std::span<const SeenArc> arcs() const { return arcs_; }
    int64_t n_places() const { return place_of(last_); }

    // consume(cells, hits, n): the attributes of a template that fire, and in which cells, those of arcs or of tokens.
    // It is about to look at `numbers`, one an attribute (or null).
    template <class Consume>
    void visit(int32_t t, double* arcs, ArcTokenCells& tokens, const double* numbers, Consume&& consume) {
        const ArcTemplate& what = (*dictionary_)[t];
        if (what.between >= 0 || !(what.side[0].empty() || what.side[1].empty()))
            return visit_arcs(t, arcs, numbers, consume);
        const AttributeTable& table = dictionary_->table(t);
        if (!table.size() || arcs_.empty()) return;
        const int s = what.side[0].empty();
        Sink<Consume> sink{*this, table, tokens.of(s), numbers, consume};
        of_tokens(what, s, keys(s, t), sink);
    }

    // The same, but all cells are those of arcs.
    template <class Consume>
    void visit_arcs(int32_t t, double* arcs, const double* numbers, Consume&& consume) {
        const AttributeTable& table = dictionary_->table(t);
        if (!table.size() || arcs_.empty()) return;
        Sink<Consume> sink{*this, table, arcs, numbers, consume};
        const Keys &head = keys(0, t), &modifier = keys(1, t);
        if ((*dictionary_)[t].between < 0 && head.start.empty() && modifier.start.empty())
            of_arcs<false>(t, head, modifier, sink);
        else of_arcs<true>(t, head, modifier, sink);
    }

  private:
    // The keys of one end of the arc, for every place.
    struct Keys {
        int64_t stamp = -1;
        std::vector<uint64_t> key;
        std::vector<int32_t> start;  // [places + 1]; empty when every place has one

        int32_t begin(int32_t p) const { return start.empty() ? p : start[p]; }
        int32_t end(int32_t p) const { return start.empty() ? p + 1 : start[p + 1]; }
    };

    // The keys of all different values that a column has between the ends of every arc. From a modifier outwards, what
    // is between it and a head is also between it and the next one, so a list for either side of it is enough.
    struct Between {
        int64_t stamp = -1;
        std::vector<uint64_t> key;
        std::vector<int32_t> first, count;  // by arc

        std::span<const uint64_t> of(size_t arc) const {
            return {key.data() + first[arc], static_cast<size_t>(count[arc])};
        }
    };

    // Places of sentences laid end to end, each with its root.
    int32_t place_of(int64_t i) const {
        return static_cast<int32_t>(sentences_->offsets()[i] - sentences_->offsets()[first_] + (i - first_));
    }

    const Between& between_of(int32_t column) {
        Between& out = between_[column];
        if (out.stamp == stamp_) return out;
        out.stamp = stamp_;
        out.key.clear();
        out.first.resize(arcs_.size());
        out.count.resize(arcs_.size());
        size_t a = 0;
        for (int64_t i = first_; i < last_; ++i) {
            const int32_t root = place_of(i), after = place_of(i + 1);
            while (a < arcs_.size() && arcs_[a].modifier < after) {
                const int32_t modifier = arcs_[a].modifier;
                size_t right = a, end = a;
                for (; end < arcs_.size() && arcs_[end].modifier == modifier; ++end)
                    right += arcs_[end].head < modifier;
                outwards(out, column, i, root, right, a, -1);
                outwards(out, column, i, root, right, end, 1);
                a = end;
            }
        }
        return out;
    }

    // From a modifier to its heads on one side, the nearest first: arcs `right` … end − 1, or right − 1 … end.
    void outwards(Between& out, int32_t column, int64_t i, int32_t root, size_t right, size_t end, int32_t step) {
        const size_t first = out.key.size();
        for (size_t k = right; k != end; k += step) {
            const size_t arc = step > 0 ? k : k - 1;
            const int32_t from = k == right ? arcs_[arc].modifier : arcs_[step > 0 ? arc - 1 : arc + 1].head;
            for (int32_t p = k == right ? from + step : from; p != arcs_[arc].head; p += step)
                for (const int32_t v : sentences_->values(column, i, p - root)) {
                    const uint64_t b = arc_key::between(v);
                    if (std::find(out.key.begin() + first, out.key.end(), b) == out.key.end()) out.key.push_back(b);
                }
            out.first[arc] = static_cast<int32_t>(first);
            out.count[arc] = static_cast<int32_t>(out.key.size() - first);
        }
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
        for (int64_t i = first_; i < last_; ++i)
            for (int32_t p = 0; p <= sentences_->length(i); ++p) {
                add_keys(s, tests, i, p, out.key);
                if (!single) out.start.push_back(static_cast<int32_t>(out.key.size()));
            }
        return out;
    }

    // Appends the keys of all combinations of values that some tests find at a place.
    void add_keys(int s, const std::vector<ArcTest>& tests, int64_t i, int32_t p, std::vector<uint64_t>& key) const {
        const size_t first = key.size();
        key.push_back(arc_key::begin[s]);
        for (const ArcTest& test : tests) {
            const auto values = sentences_->values(test.column, i, p + test.offset);
            const size_t n = key.size() - first;
            if (values.empty()) return key.resize(first);
            for (size_t v = values.size(); v-- > 0;)  // the first one last: it takes the place of what there is
                for (size_t k = 0; k < n; ++k) {
                    const uint64_t h = arc_key::mixed(key[first + k], static_cast<uint32_t>(values[v]));
                    if (v) key.push_back(h);
                    else key[first + k] = h;
                }
        }
        for (size_t k = first; k < key.size(); ++k) key[k] = tests.empty() ? 0 : arc_key::finished(key[k]);
    }

    void find_codes(const ArcTemplate& what) {
        const bool any = what.direction || what.length;
        for (int32_t seen = 0; seen < what.n_seen(); ++seen) seen_[seen] = any ? arc_key::code(seen) : 0;
        for (int32_t code = 0; code < ArcLengths::n_codes; ++code) code_[code] = seen_[what.seen(code)];
    }

    template <class Push>
    void of_tokens(const ArcTemplate& what, int s, const Keys& keys, Push& push) {
        find_codes(what);
        const int32_t cells = ArcTokenCells::first(what.direction, what.length);
        const auto places = static_cast<int32_t>(n_places());
        for (int32_t p = 0; p < places; ++p) {
            uint32_t seen = 0;  // as bits
            for (uint32_t codes = codes_[s][p]; codes; codes &= codes - 1)
                seen |= 1u << what.seen(std::countr_zero(codes));
            for (int32_t k = keys.begin(p); k < keys.end(p); ++k)
                for (uint32_t left = seen; left; left &= left - 1) {
                    const int32_t c = std::countr_zero(left);
                    push(p * ArcTokenCells::width + cells + c, keys.key[k] + seen_[c]);
                }
        }
        push.flush();
    }

    template <bool lists, class Push>
    void of_arcs(int32_t t, const Keys& head, const Keys& modifier, Push& push) {
        const ArcTemplate& what = (*dictionary_)[t];
        find_codes(what);
        if constexpr (!lists) {
            for (const SeenArc& arc : arcs_)
                push(arc.cell, modifier.key[arc.modifier] + head.key[arc.head] + code_[arc.code]);
        } else {
            const Between* between = what.between >= 0 ? &between_of(what.between) : nullptr;
            static constexpr uint64_t zero[] = {0};
            const std::span<const uint64_t> nothing_between(zero);  // and nothing to add to the key
            for (size_t a = 0; a < arcs_.size(); ++a) {
                const SeenArc& arc = arcs_[a];
                const std::span<const uint64_t> values = between ? between->of(a) : nothing_between;
                if (values.empty()) continue;
                for (int32_t j = modifier.begin(arc.modifier); j < modifier.end(arc.modifier); ++j)
                    for (int32_t k = head.begin(arc.head); k < head.end(arc.head); ++k) {
                        const uint64_t ends = modifier.key[j] + head.key[k] + code_[arc.code];
                        if (between && !dictionary_->maybe_between(t, ends)) continue;
                        for (const uint64_t value : values) push(arc.cell, ends + value);
                    }
            }
        }
        push.flush();
    }

    static constexpr int32_t most = 128;

    const ArcDictionary* dictionary_;
    const ArcSentences* sentences_;
    int64_t first_ = 0, last_ = 0, stamp_ = 0;
    std::vector<SeenArc> arcs_;       // modifier by modifier, heads ascending
    std::vector<uint32_t> codes_[2];  // [places]: those of the arcs from it and into it, as bits
    std::vector<Keys> keys_[2];
    uint64_t seen_[ArcLengths::n_codes], code_[ArcLengths::n_codes];  // keys, by what a template sees and by code
    std::vector<Between> between_;                                    // by column
    uint64_t pending_key_[most];
    int32_t pending_cell_[most];
    Hit hits_[most];
};

}  // namespace parsimon
