// The arcs of some sentences that lie next to each other, and what templates share of them: the keys of their ends and
// of what is between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/threads.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arcs.hpp"

namespace parsimon {

// An arc that is looked at: where its number is, its ends among the places (root and tokens) of all sentences, and
// its direction and length.
struct SeenArc {
    int32_t cell, head, modifier, code;
};

// What templates look at in heads [0] and in modifiers [1], each once.
struct ArcSides {
    std::vector<std::vector<ArcTest>> each[2];

    int32_t number(int s, const std::vector<ArcTest>& tests) {
        const auto at = std::find(each[s].begin(), each[s].end(), tests);
        const auto number = static_cast<int32_t>(at - each[s].begin());
        if (at == each[s].end()) each[s].push_back(tests);
        return number;
    }
};

class ArcRange {
  public:
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

    ArcRange(const ArcSides& sides, const ArcSentences& sentences) : sides_(&sides), sentences_(&sentences) {
        for (int s = 0; s < 2; ++s) keys_[s].resize(sides.each[s].size());
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
    int32_t n_places() const { return place_of(last_); }
    // The codes of the arcs from a place (0) or into it (1), as bits.
    uint32_t codes(int s, int32_t place) const { return codes_[s][place]; }

    const Keys& keys(int s, int32_t side) {
        Keys& out = keys_[s][side];
        if (out.stamp == stamp_) return out;
        out.stamp = stamp_;
        const std::vector<ArcTest>& tests = sides_->each[s][side];
        const bool single = std::all_of(tests.begin(), tests.end(),
                                        [&](const ArcTest& test) { return sentences_->single(test.column); });
        out.key.clear();
        out.start.clear();
        if (!single) out.start.push_back(0);
        each_place([&](int64_t i, int32_t p) {
            add_keys(s, tests, i, p, out.key);
            if (!single) out.start.push_back(static_cast<int32_t>(out.key.size()));
        });
        return out;
    }

    const Between& between_of(int32_t column) {
        Between& out = between_[column];
        if (out.stamp == stamp_) return out;
        out.stamp = stamp_;
        out.key.clear();
        out.first.resize(arcs_.size());
        out.count.resize(arcs_.size());
        int32_t first = 0;
        walk_outwards([&] { first = static_cast<int32_t>(out.key.size()); },
                      [&](int64_t i, int32_t p, int32_t) {
                          for (const int32_t v : sentences_->values(column, i, p)) {
                              const uint64_t b = arc_key::between(v);
                              if (std::find(out.key.begin() + first, out.key.end(), b) == out.key.end())
                                  out.key.push_back(b);
                          }
                      },
                      [&](size_t arc) {
                          out.first[arc] = first;
                          out.count[arc] = static_cast<int32_t>(out.key.size()) - first;
                      });
        return out;
    }

    // From every modifier to its heads on either side, the nearest first: start(), and then, for each arc, see(i, p,
    // place) for what has come in between since the one before, and done(arc).
    template <class Start, class See, class Done>
    void walk_outwards(Start&& start, See&& see, Done&& done) const {
        size_t a = 0;
        for (int64_t i = first_; i < last_; ++i) {
            const int32_t root = place_of(i), after = place_of(i + 1);
            while (a < arcs_.size() && arcs_[a].modifier < after) {
                const int32_t modifier = arcs_[a].modifier;
                size_t right = a, end = a;  // the first arc from a head after it, and the end of its arcs
                for (; end < arcs_.size() && arcs_[end].modifier == modifier; ++end)
                    right += arcs_[end].head < modifier;
                start();
                int32_t p = modifier - 1;
                for (size_t k = right; k-- > a; done(k))
                    for (; p > arcs_[k].head; --p) see(i, p - root, p);
                start();
                p = modifier + 1;
                for (size_t k = right; k < end; done(k++))
                    for (; p < arcs_[k].head; ++p) see(i, p - root, p);
                a = end;
            }
        }
    }

    // body(i, p): every place, the root and the tokens of each sentence.
    template <class Body>
    void each_place(Body&& body) const {
        for (int64_t i = first_; i < last_; ++i)
            for (int32_t p = 0; p <= sentences_->length(i); ++p) body(i, p);
    }

  private:
    // Places of sentences laid end to end, each with its root.
    int32_t place_of(int64_t i) const {
        return static_cast<int32_t>(sentences_->offsets()[i] - sentences_->offsets()[first_] + (i - first_));
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

    const ArcSides* sides_;
    const ArcSentences* sentences_;
    int64_t first_ = 0, last_ = 0, stamp_ = 0;
    std::vector<SeenArc> arcs_;       // modifier by modifier, heads ascending
    std::vector<uint32_t> codes_[2];  // [places]
    std::vector<Keys> keys_[2];       // by side
    std::vector<Between> between_;    // by column
};

// Cuts the sentences first … last − 1 into so many pieces, with about equally many arcs.
inline std::vector<int64_t> arc_pieces(const ArcSentences& sentences, int64_t first, int64_t last, int64_t pieces) {
    auto cuts = balanced_cuts(sentences.arcs().data() + first, last - first, pieces);
    for (int64_t& cut : cuts) cut += first;
    return cuts;
}

}  // namespace parsimon
