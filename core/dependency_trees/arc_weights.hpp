// The weights of all templates that look at the same ends of an arc, found together: a table from the key of the ends
// to one sum for every direction and length.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "dependency_trees/arc_templates.hpp"
#include "input/attribute_table.hpp"

namespace parsimon {

// An attribute with its weight, as such a table takes it.
struct WeightedArcAttribute {
    uint64_t ends;  // the key of its ends
    double weight;
    int32_t seen;  // what its template sees of the code of an arc
    bool direction, length;
    uint8_t member;  // which member of a set it asks for (see ArcSets), where there is one
};

// Most codes have the same sum as all others of their direction, so what is stored for ends are these two (or one, if
// no template asks for the direction alone), and behind them the sums of the codes that differ. Where templates ask for
// a member of a set, too, a sum is one of the members that an arc has: a mask of those that have weights, and these.
//
// A slot has the upper bits of the key and, in place of the lower ones (which have said where to look), a mask of the
// codes that differ.
class ArcWeights {
  public:
    ArcWeights() = default;
    ArcWeights(const std::vector<WeightedArcAttribute>& attributes, bool sets) : filter_(0) {
        for (const auto& each : attributes)
            if (each.direction && !each.length) n_shared_ = 2;
        const auto row = numbered(attributes);
        std::vector<int64_t> start(slots_used_ + 1, 0);
        for (const int32_t r : row) ++start[r + 1];
        for (size_t r = 1; r < start.size(); ++r) start[r] += start[r - 1];
        std::vector<WeightedArcAttribute> ordered(attributes.size());
        std::vector<int64_t> at(start.begin(), start.end() - 1);
        for (size_t k = 0; k < row.size(); ++k) ordered[at[row[k]]++] = attributes[k];
        for (Slot& slot : slots_) {
            if (slot.first < 0) continue;
            const auto* begin = ordered.data() + start[slot.first];
            const auto* end = ordered.data() + start[slot.first + 1];
            lay_out(slot, begin, end, sets);
        }
    }

    bool empty() const { return slots_.empty(); }
    const KeyFilter& filter() const { return filter_; }
    void prefetch(uint64_t ends) const { __builtin_prefetch(slots_.data() + (ends & (slots_.size() - 1))); }

    // Where the sum of an arc is; −1 if the ends have no weights. Only of a table that is not empty.
    int32_t find(uint64_t ends, int32_t code) const {
        const Slot* slot = slot_of(ends);
        return slot ? cell(*slot, code) : -1;
    }
    // body(code, cell) for some codes, as bits.
    template <class Body>
    void each_code(uint64_t ends, uint32_t codes, Body&& body) const {
        const Slot* slot = slot_of(ends);
        if (slot)
            for (; codes; codes &= codes - 1) body(std::countr_zero(codes), cell(*slot, std::countr_zero(codes)));
    }
    void prefetch_sum(int32_t cell) const { __builtin_prefetch(sums_.data() + cell); }
    void prefetch_members(int32_t cell) const { __builtin_prefetch(members_.data() + cell); }
    double sum(int32_t cell) const { return sums_[cell]; }
    double sum(int32_t cell, uint64_t set) const {
        const Members& members = members_[cell];
        double out = 0;
        for (uint64_t both = members.mask & set; both; both &= both - 1)
            out += sums_[members.first + std::popcount(members.mask & ((both & -both) - 1))];
        return out;
    }

  private:
    static constexpr uint64_t code_mask = (1ull << ArcLengths::n_codes) - 1;

    struct Slot {
        uint64_t word = 0;
        int32_t first = -1;  // cell; −1: there is nothing here
    };
    struct Members {
        uint64_t mask;
        int32_t first;
    };

    const Slot* slot_of(uint64_t ends) const {
        const uint64_t mask = slots_.size() - 1;
        for (uint64_t at = ends & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.first < 0) return nullptr;
            if (((slot.word ^ ends) & ~code_mask) == 0) return &slot;
        }
    }

    // Both places are computed, because which of them it is cannot be predicted.
    int32_t cell(const Slot& slot, int32_t code) const {
        const auto differ = static_cast<uint32_t>(slot.word & code_mask), bit = 1u << code;
        const int32_t own = n_shared_ + std::popcount(differ & (bit - 1));
        const int32_t shared = (n_shared_ >> 1) & static_cast<int32_t>(code >= ArcLengths::n);
        return slot.first + (differ & bit ? own : shared);
    }

    // Makes slots for all ends, and numbers them: the row of every attribute, which is the `first` of its slot for now.
    std::vector<int32_t> numbered(const std::vector<WeightedArcAttribute>& attributes) {
        std::vector<uint64_t> each;
        std::vector<int32_t> row, number(std::bit_ceil(attributes.size() * 3 / 2 + 1), -1);
        for (const auto& attribute : attributes) {
            uint64_t at = attribute.ends & (number.size() - 1);
            while (number[at] >= 0 && each[number[at]] != attribute.ends) at = (at + 1) & (number.size() - 1);
            if (number[at] < 0) {
                number[at] = static_cast<int32_t>(each.size());
                each.push_back(attribute.ends);
            }
            row.push_back(number[at]);
        }
        if (each.empty()) return row;
        slots_used_ = static_cast<int64_t>(each.size());
        filter_ = KeyFilter(slots_used_);
        slots_.resize(std::bit_ceil(each.size() * 2));  // few keys share a place then
        for (size_t r = 0; r < each.size(); ++r) {
            filter_.add(each[r]);
            uint64_t at = each[r] & (slots_.size() - 1);
            while (slots_[at].first >= 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = {each[r] & ~code_mask, static_cast<int32_t>(r)};
        }
        return row;
    }

    // Puts the sums of a slot behind those that there are.
    void lay_out(Slot& slot, const WeightedArcAttribute* begin, const WeightedArcAttribute* end, bool sets) {
        uint32_t differ = 0;
        for (const auto* each = begin; each != end; ++each)
            for (int32_t code = 0; each->length && code < ArcLengths::n_codes; ++code)
                differ |= static_cast<uint32_t>(fires(*each, code)) << code;
        slot.word |= differ;
        slot.first = static_cast<int32_t>(sets ? members_.size() : sums_.size());
        for (int32_t direction = 0; direction < n_shared_; ++direction)
            add_cell(begin, end, sets,
                     [&](const auto& a) { return !a.length && (!a.direction || a.seen == direction); });
        for (; differ; differ &= differ - 1)
            add_cell(begin, end, sets, [&](const auto& a) { return fires(a, std::countr_zero(differ)); });
    }

    static bool fires(const WeightedArcAttribute& attribute, int32_t code) {
        return ArcLengths::seen(attribute.direction, attribute.length, code) == attribute.seen;
    }

    template <class Fires>
    void add_cell(const WeightedArcAttribute* begin, const WeightedArcAttribute* end, bool sets, Fires&& fires) {
        if (!sets) {
            sums_.push_back(0.0);
            for (; begin != end; ++begin)
                if (fires(*begin)) sums_.back() += begin->weight;
            return;
        }
        double of[64];
        uint64_t mask = 0;
        for (; begin != end; ++begin) {
            if (!fires(*begin)) continue;
            const uint64_t bit = 1ull << begin->member;
            of[begin->member] = begin->weight + (mask & bit ? of[begin->member] : 0.0);
            mask |= bit;
        }
        members_.push_back({mask, static_cast<int32_t>(sums_.size())});
        for (; mask; mask &= mask - 1) sums_.push_back(of[std::countr_zero(mask)]);
    }

    int32_t n_shared_ = 1;
    int64_t slots_used_ = 0;
    KeyFilter filter_;
    std::vector<Slot> slots_;
    std::vector<Members> members_;  // by cell; empty where sets are not asked for
    std::vector<double> sums_;      // by cell, or those of members
};

// Keys to look up, and of which arc each is; for arcs, their codes and sets (or null), and where their sums are. The
// first two are overwritten; `cell` has room for as many.
struct ArcLookups {
    int64_t n;
    uint64_t* key;
    int32_t *arc, *cell;
    const int32_t* code;
    const uint64_t* set;
    double* sum;
};

}  // namespace parsimon
