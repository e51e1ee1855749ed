// The attributes of the arcs of some sentences, expanded whenever they are needed and never stored.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "dependency_trees/arc_dictionary.hpp"
#include "dependency_trees/arc_range.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arc_token_cells.hpp"
#include "dependency_trees/arcs.hpp"
#include "input/attribute_table.hpp"

namespace parsimon {

// Goes through the attributes of the arcs of a range of sentences, template by template: a template's table stays in
// the cache meanwhile, and what templates share (the keys of an end, what is between) is found once. One for each
// thread.
class ArcVisitor : public ArcRange {
  public:
    struct Hit {
        int32_t cell, attribute;
    };

    ArcVisitor(const ArcDictionary& dictionary, const ArcSentences& sentences)
        : ArcRange(dictionary.sides(), sentences), dictionary_(&dictionary) {}

    // consume(cells, hits, n): the attributes of a template that fire, and in which cells, those of arcs or of tokens.
    // It is about to look at `numbers`, one an attribute (or null).
    template <class Consume>
    void visit(int32_t t, double* cells, ArcTokenCells& tokens, const double* numbers, Consume&& consume) {
        const ArcTemplate& what = (*dictionary_)[t];
        if (what.between >= 0 || !(what.side[0].empty() || what.side[1].empty()))
            return visit_arcs(t, cells, numbers, consume);
        const AttributeTable& table = dictionary_->table(t);
        if (!table.size() || arcs().empty()) return;
        const int s = what.side[0].empty();
        Sink<Consume> sink{*this, table, tokens.of(s), numbers, consume};
        of_tokens(what, s, keys(s, dictionary_->side_of(s, t)), sink);
    }

    // The same, but all cells are those of arcs.
    template <class Consume>
    void visit_arcs(int32_t t, double* cells, const double* numbers, Consume&& consume) {
        const AttributeTable& table = dictionary_->table(t);
        if (!table.size() || arcs().empty()) return;
        Sink<Consume> sink{*this, table, cells, numbers, consume};
        const Keys &head = keys(0, dictionary_->side_of(0, t)), &modifier = keys(1, dictionary_->side_of(1, t));
        if ((*dictionary_)[t].between < 0 && head.start.empty() && modifier.start.empty())
            of_arcs<false>(t, head, modifier, sink);
        else of_arcs<true>(t, head, modifier, sink);
    }

  private:
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

    void find_codes(const ArcTemplate& what) {
        const bool any = what.direction || what.length;
        for (int32_t seen = 0; seen < what.n_seen(); ++seen) seen_[seen] = any ? arc_key::code(seen) : 0;
        for (int32_t code = 0; code < ArcLengths::n_codes; ++code) code_[code] = seen_[what.seen(code)];
    }

    template <class Push>
    void of_tokens(const ArcTemplate& what, int s, const Keys& keys, Push& push) {
        find_codes(what);
        const int32_t cells = ArcTokenCells::first(what.direction, what.length);
        for (int32_t p = 0; p < n_places(); ++p) {
            uint32_t seen = 0;  // as bits
            for (uint32_t left = codes(s, p); left; left &= left - 1) seen |= 1u << what.seen(std::countr_zero(left));
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
            for (const SeenArc& arc : arcs())
                push(arc.cell, modifier.key[arc.modifier] + head.key[arc.head] + code_[arc.code]);
        } else {
            const Between* between = what.between >= 0 ? &between_of(what.between) : nullptr;
            static constexpr uint64_t zero[] = {0};
            const std::span<const uint64_t> nothing_between(zero);  // and nothing to add to the key
            for (size_t a = 0; a < arcs().size(); ++a) {
                const SeenArc& arc = arcs()[a];
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
    uint64_t seen_[ArcLengths::n_codes], code_[ArcLengths::n_codes];  // keys, by what a template sees and by code
    uint64_t pending_key_[most];
    int32_t pending_cell_[most];
    Hit hits_[most];
};

}  // namespace parsimon
