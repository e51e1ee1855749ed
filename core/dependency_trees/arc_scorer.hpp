// Scores of arcs under weights that stay as they are. Templates that look at the same ends are looked up together, with
// their weights (see arc_weights.hpp); what is asked of a token alone is looked up once a token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/threads.hpp"
#include "dependency_trees/arc_range.hpp"
#include "dependency_trees/arc_sets.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arc_weights.hpp"
#include "dependency_trees/arcs.hpp"
#include "kernels/kernels.hpp"

namespace parsimon {

class ArcScorer {
  public:
    // From the values of all attributes (see ArcDictionary), so many of each template, and their weights; `many` says
    // which columns have any number of values a token.
    ArcScorer(const std::vector<ArcTemplate>& templates, const int64_t* counts, const int32_t* values,
              const double* weights, const std::vector<bool>& many, int threads)
        : n_columns_(static_cast<int64_t>(many.size())) {
        find_sets(templates, counts, values, many);
        gather(templates, counts, values, weights, many, threads);
    }

    int64_t n_columns() const { return n_columns_; }

    // The scores of the sentences first … last − 1, laid end to end; −∞ for arcs that are not looked at.
    void scores(const ArcSentences& sentences, int64_t first, int64_t last, double* out, int threads) const;

  private:
    // Templates that look at the same ends and the same set.
    struct Group {
        int32_t side[2];
        int32_t between;  // a column whose values are looked up one by one; −1 for none
        int32_t set;      // −1 for none
        ArcWeights table;
    };

    class Work;

    // What a template asks of a set: what is between, or a test of many values, if there is one.
    static ArcSetTest wanted(const ArcTemplate& t, const std::vector<bool>& many) {
        if (t.between >= 0) return {ArcTemplate::at_between, {0, t.between}};
        for (const int32_t s : {ArcTemplate::at_modifier, ArcTemplate::at_head})
            for (const ArcTest& test : t.side[s])
                if (many[test.column]) return {s, test};
        return {};
    }

    // Where the value of a set's test is among those of a template.
    static size_t place_in(const ArcTemplate& t, const ArcSetTest& set) {
        if (set.place == ArcTemplate::at_between) return t.between_at();
        const auto& side = t.side[set.place];
        return (set.place ? t.side[0].size() : 0) + (std::find(side.begin(), side.end(), set.test) - side.begin());
    }

    // The sets that templates ask for, without those of too many members: their values are looked up one by one.
    void find_sets(const std::vector<ArcTemplate>& templates, const int64_t* counts, const int32_t* values,
                   const std::vector<bool>& many) {
        for (size_t t = 0; t < templates.size(); ++t) {
            const ArcTemplate& what = templates[t];
            const ArcSetTest wanted_set = wanted(what, many);
            if (wanted_set.any()) {
                auto at =
                    std::find_if(sets_.begin(), sets_.end(), [&](const ArcSet& s) { return s.what() == wanted_set; });
                if (at == sets_.end()) at = sets_.insert(sets_.end(), ArcSet(wanted_set));
                const size_t place = place_in(what, wanted_set);
                for (int64_t k = 0; k < counts[t]; ++k) at->add(values[k * what.n_tests() + place]);
            }
            values += counts[t] * what.n_tests();
        }
        std::erase_if(sets_, [](const ArcSet& set) { return !set.fits(); });
    }

    int32_t set_of(const ArcTemplate& t, const std::vector<bool>& many) const {
        const ArcSetTest what = wanted(t, many);
        for (size_t s = 0; s < sets_.size(); ++s)
            if (sets_[s].what() == what) return static_cast<int32_t>(s);
        return -1;
    }

    // A template without the test of a set.
    ArcTemplate without(const ArcTemplate& t, int32_t set) const {
        ArcTemplate out = t;
        if (set < 0) return out;
        const ArcSetTest& what = sets_[set].what();
        if (what.place == ArcTemplate::at_between) out.between = -1;
        else out.side[what.place].erase(std::find(out.side[what.place].begin(), out.side[what.place].end(), what.test));
        return out;
    }

    // The number of the group that a template belongs to, which is made if there is none yet.
    int32_t group_of(const ArcTemplate& t, int32_t set) {
        const ArcTemplate ends = without(t, set);
        Group group{{sides_.number(0, ends.side[0]), sides_.number(1, ends.side[1])}, ends.between, set, {}};
        for (size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].side[0] == group.side[0] && groups_[g].side[1] == group.side[1]
                && groups_[g].between == group.between && groups_[g].set == set)
                return static_cast<int32_t>(g);
        groups_.push_back(std::move(group));
        return static_cast<int32_t>(groups_.size()) - 1;
    }

    // Makes the groups, and their tables of the attributes of their templates.
    void gather(const std::vector<ArcTemplate>& templates, const int64_t* counts, const int32_t* values,
                const double* weights, const std::vector<bool>& many, int threads) {
        struct Range {
            const int32_t* values;
            const double* weights;
        };
        std::vector<Range> of(templates.size());
        std::vector<std::vector<size_t>> members;  // the templates of each group
        for (size_t t = 0; t < templates.size(); ++t) {
            of[t] = {values, weights};
            const int32_t group = group_of(templates[t], set_of(templates[t], many));
            members.resize(groups_.size());
            members[group].push_back(t);
            values += counts[t] * templates[t].n_tests();
            weights += counts[t];
        }
        parallel_for(static_cast<int64_t>(groups_.size()), threads, [&](int64_t g, int) {
            std::vector<WeightedArcAttribute> all;
            for (const size_t t : members[g])
                add_attributes(templates[t], groups_[g].set, counts[t], of[t].values, of[t].weights, all);
            groups_[g].table = ArcWeights(all, groups_[g].set >= 0);
        });
        std::erase_if(groups_, [](const Group& group) { return group.table.empty(); });
    }

    // Appends those of one template.
    void add_attributes(const ArcTemplate& t, int32_t set, int64_t count, const int32_t* values, const double* weights,
                        std::vector<WeightedArcAttribute>& out) const {
        ArcTemplate ends = without(t, set);
        ends.direction = ends.length = false;
        const size_t place = set >= 0 ? place_in(t, sets_[set].what()) : t.n_tests();
        std::vector<int32_t> left(ArcTemplate::most_tests + 2);
        for (int64_t k = 0; k < count; ++k, values += t.n_tests()) {
            std::copy(values, values + place, left.begin());
            if (set >= 0)
                std::copy(values + place + 1, values + t.n_tests(), left.begin() + static_cast<int64_t>(place));
            const bool code = t.direction || t.length;
            out.push_back({arc_key::of(ends, left.data()), weights[k], code ? values[t.n_tests() - 1] : 0, t.direction,
                           t.length, set >= 0 ? sets_[set].member(values[place]) : uint8_t{0}});
        }
    }

    int64_t n_columns_;
    ArcSides sides_;
    std::vector<ArcSet> sets_;
    std::vector<Group> groups_;
};

// Some sentences, one thread's.
class ArcScorer::Work {
  public:
    Work(const ArcScorer& scorer, const ArcSentences& sentences)
        : scorer_(scorer), sentences_(sentences), range_(scorer.sides_, sentences), sets_(scorer.sets_.size()) {}

    void begin(int64_t first, int64_t last) {
        range_.begin(first, last);
        arc_sum_.assign(range_.arcs().size(), 0.0);
        code_.clear();
        for (const SeenArc& arc : range_.arcs()) code_.push_back(arc.code);
        for (auto& sums : token_sum_) sums.assign(static_cast<size_t>(range_.n_places()) * ArcLengths::n_codes, 0.0);
        for (size_t s = 0; s < sets_.size(); ++s) scorer_.sets_[s].of_arcs(range_, sentences_, sets_[s]);
    }

    void add(const Group& group) {
        const ArcRange::Keys* keys[2];
        bool alone[2];
        for (int s = 0; s < 2; ++s) {
            keys[s] = &range_.keys(s, group.side[s]);
            alone[s] = scorer_.sides_.each[1 - s][group.side[1 - s]].empty();
        }
        if (group.between < 0 && group.set < 0 && (alone[0] || alone[1]))
            return of_tokens(group, alone[1], *keys[alone[1]]);
        of_arcs(group, *keys[0], *keys[1]);
    }

    void write(double* scores) const {
        const auto arcs = range_.arcs();
        for (size_t a = 0; a < arcs.size(); ++a)
            scores[arcs[a].cell] = arc_sum_[a] + token_sum_[0][token_cell(arcs[a].head, arcs[a].code)]
                                   + token_sum_[1][token_cell(arcs[a].modifier, arcs[a].code)];
    }

  private:
    static constexpr int32_t most = 256;

    static size_t token_cell(int32_t place, int32_t code) {
        return static_cast<size_t>(place) * ArcLengths::n_codes + code;
    }

    void of_tokens(const Group& group, int s, const ArcRange::Keys& keys) {
        for (int32_t p = 0; p < range_.n_places(); ++p)
            for (int32_t k = keys.begin(p); range_.codes(s, p) && k < keys.end(p); ++k)
                kernels().add_token_sums(group.table, keys.key[k], range_.codes(s, p),
                                         &token_sum_[s][token_cell(p, 0)]);
    }

    void of_arcs(const Group& group, const ArcRange::Keys& head, const ArcRange::Keys& modifier) {
        const auto arcs = range_.arcs();
        const auto n = static_cast<int32_t>(arcs.size());
        if (group.between < 0 && head.start.empty() && modifier.start.empty()) {
            for (int32_t first = 0; first < n; first += most, flush(group)) {
                pending_ = std::min(most, n - first);
                for (int32_t j = 0; j < pending_; ++j) {
                    key_[j] = head.key[arcs[first + j].head] + modifier.key[arcs[first + j].modifier];
                    arc_[j] = first + j;
                }
            }
        } else {
            const ArcRange::Between* between = group.between >= 0 ? &range_.between_of(group.between) : nullptr;
            static constexpr uint64_t nothing[] = {0};  // between, and nothing to add to the key
            for (int32_t a = 0; a < n; ++a) {
                const std::span<const uint64_t> values = between ? between->of(a) : std::span<const uint64_t>(nothing);
                for (int32_t j = modifier.begin(arcs[a].modifier); j < modifier.end(arcs[a].modifier); ++j)
                    for (int32_t k = head.begin(arcs[a].head); k < head.end(arcs[a].head); ++k)
                        for (const uint64_t value : values) push(group, a, head.key[k] + modifier.key[j] + value);
            }
        }
        flush(group);
    }

    void push(const Group& group, int32_t arc, uint64_t key) {
        key_[pending_] = key;
        arc_[pending_++] = arc;
        if (pending_ == most) flush(group);
    }

    void flush(const Group& group) {
        kernels().add_arc_sums(group.table, {pending_, key_, arc_, cell_, code_.data(),
                                             group.set >= 0 ? sets_[group.set].data() : nullptr, arc_sum_.data()});
        pending_ = 0;
    }

    const ArcScorer& scorer_;
    const ArcSentences& sentences_;
    ArcRange range_;
    std::vector<std::vector<uint64_t>> sets_;  // by set and arc
    std::vector<int32_t> code_;                // by arc
    std::vector<double> arc_sum_, token_sum_[2];
    int32_t pending_ = 0;
    uint64_t key_[most];
    int32_t arc_[most], cell_[most];
};

inline void ArcScorer::scores(const ArcSentences& sentences, int64_t first, int64_t last, double* out,
                              int threads) const {
    const auto& arcs = sentences.arcs();
    // Large pieces, for every one of them brings all tables into the cache.
    const int64_t least = threads > 1 ? 4 * threads : 1;
    const auto cuts = arc_pieces(sentences, first, last, std::max(least, sentences.looked_at(first, last) >> 17));
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        double* scores = out + arcs[cuts[piece]] - arcs[first];
        std::fill(scores, out + arcs[cuts[piece + 1]] - arcs[first], sentences.all_arcs() ? 0.0 : no_tree);
        Work work(*this, sentences);
        work.begin(cuts[piece], cuts[piece + 1]);
        for (const Group& group : groups_) work.add(group);
        work.write(scores);
    });
}

}  // namespace parsimon
