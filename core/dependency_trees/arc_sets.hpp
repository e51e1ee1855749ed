// Cells with any number of values, and the tokens between the ends of an arc, as sets of at most 64 members: a template
// that asks for one of them is looked up once an arc, not once a member.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dependency_trees/arc_range.hpp"
#include "dependency_trees/arc_templates.hpp"

namespace parsimon {

// Where the values are.
struct ArcSetTest {
    int32_t place = ArcTemplate::of_direction;  // at_head, at_modifier or at_between; else there are none
    ArcTest test{0, 0};

    bool any() const { return place <= ArcTemplate::at_between; }
    bool operator==(const ArcSetTest&) const = default;
};

// The values that are members.
class ArcSet {
  public:
    static constexpr size_t most = 64;

    explicit ArcSet(ArcSetTest what) : what_(what) {}

    const ArcSetTest& what() const { return what_; }
    void add(int32_t value) {
        const auto at = std::lower_bound(values_.begin(), values_.end(), value);
        if (values_.size() <= most && (at == values_.end() || *at != value)) values_.insert(at, value);
    }
    bool fits() const { return values_.size() <= most; }
    // The number of a value; `most` if it is no member.
    uint8_t member(int32_t value) const {
        const auto at = std::lower_bound(values_.begin(), values_.end(), value);
        return static_cast<uint8_t>(at == values_.end() || *at != value ? most : at - values_.begin());
    }

    // The members that every arc has, as bits.
    void of_arcs(const ArcRange& range, const ArcSentences& sentences, std::vector<uint64_t>& out) const {
        const auto arcs = range.arcs();
        out.resize(arcs.size());
        std::vector<uint64_t> at;  // by place
        range.each_place([&](int64_t i, int32_t p) {
            uint64_t bits = 0;
            for (const int32_t v : sentences.values(what_.test.column, i, p + what_.test.offset))
                if (const uint8_t m = member(v); m < most) bits |= 1ull << m;
            at.push_back(bits);
        });
        if (what_.place == ArcTemplate::at_between) {
            uint64_t bits = 0;
            range.walk_outwards([&] { bits = 0; }, [&](int64_t, int32_t, int32_t place) { bits |= at[place]; },
                                [&](size_t arc) { out[arc] = bits; });
        } else {
            for (size_t a = 0; a < arcs.size(); ++a)
                out[a] = at[what_.place == ArcTemplate::at_head ? arcs[a].head : arcs[a].modifier];
        }
    }

  private:
    ArcSetTest what_;
    std::vector<int32_t> values_;  // ascending; their places are the numbers of members
};

}  // namespace parsimon
