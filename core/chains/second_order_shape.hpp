// The shape of a batch of second-order chains, in which a step sees three tags.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "chains/label_pairs.hpp"

namespace parsimon {

// Which pairs of tags there are, and how the numbers of pairs and of triples are laid out.
//
// Pair p is (before, tag), before = −1 at the beginning of a sequence; pairs ascend by both. Pair (a, b) is followed by
// the pairs that begin with b, which have consecutive numbers; a pair with one of those is a *triple*. Triples are
// numbered by their first pair, then by the second.
//
// So a step is one small matrix for every tag b: from the pairs that end with b to those that begin with b. It costs as
// many operations as there are triples, not the square of the number of pairs. For such matrices, numbers of pairs are
// kept in *slots*: a block for every tag they begin with (and one for the beginning), padded to whole vectors.
struct TagPairs {
    int64_t n_tags, n_pairs, n_triples, n_slots;
    std::vector<int32_t> before, tag;        // [P]
    std::vector<int32_t> slot;               // [P]
    std::vector<int32_t> pair_at;            // [slots]; −1 for padding
    std::vector<int32_t> number;             // [tags + 1][tags]: the pair, −1 for none; before = −1 comes first
    std::vector<int64_t> first, last;        // [tags]: the pairs that begin with a tag
    std::vector<int64_t> block;              // [tags]: their first slot
    std::vector<int64_t> into_start;         // [tags + 1] into `into`
    std::vector<int32_t> into, into_slot;    // pairs that end with a tag, ascending, and their slots
    std::vector<int64_t> triple_start;       // [P]: the first triple of a pair
    std::vector<int64_t> forward, backward;  // [tags + 1]: where a tag's matrices begin, see TripleTable
    // Tags that some pairs end with and others begin with, in an order in which matrices of one size follow each other:
    // loops that are as long as the one before are quicker.
    std::vector<int32_t> by_size;

    TagPairs(std::vector<int32_t> before_in, std::vector<int32_t> tag_in, int64_t n_tags)
        : n_tags(n_tags), n_pairs(static_cast<int64_t>(tag_in.size())), before(std::move(before_in)),
          tag(std::move(tag_in)), slot(n_pairs), number((n_tags + 1) * n_tags, -1), first(n_tags), last(n_tags),
          block(n_tags), into_start(n_tags + 1, 0), into(n_pairs), triple_start(n_pairs), forward(n_tags + 1, 0),
          backward(n_tags + 1, 0) {
        for (int64_t p = 0; p < n_pairs; ++p) number[(before[p] + 1) * n_tags + tag[p]] = static_cast<int32_t>(p);
        for (int64_t p = 0, at = 0; p < n_pairs; ++p, ++at) {
            if (p && before[p] != before[p - 1]) at = padded(at);
            slot[p] = static_cast<int32_t>(at);
        }
        n_slots = n_pairs ? padded(slot.back() + 1) : 0;
        pair_at.assign(n_slots, -1);
        for (int64_t p = 0; p < n_pairs; ++p) pair_at[slot[p]] = static_cast<int32_t>(p);
        for (int64_t b = 0; b < n_tags; ++b) {
            const auto range = std::equal_range(before.begin(), before.end(), static_cast<int32_t>(b));
            first[b] = range.first - before.begin();
            last[b] = range.second - before.begin();
            block[b] = first[b] < last[b] ? slot[first[b]] : 0;
        }
        for (const int32_t b : tag) ++into_start[b + 1];
        for (int64_t b = 0; b < n_tags; ++b) into_start[b + 1] += into_start[b];
        std::vector<int64_t> next(into_start.begin(), into_start.end() - 1);
        n_triples = 0;
        for (int64_t p = 0; p < n_pairs; ++p) {
            into[next[tag[p]]++] = static_cast<int32_t>(p);
            triple_start[p] = n_triples;
            n_triples += n_after(tag[p]);
        }
        for (const int32_t p : into) into_slot.push_back(slot[p]);
        for (int64_t b = 0; b < n_tags; ++b) {
            forward[b + 1] = forward[b] + n_into(b) * padded(n_after(b));
            backward[b + 1] = backward[b] + n_after(b) * padded(n_into(b));
            if (n_into(b) && n_after(b)) by_size.push_back(static_cast<int32_t>(b));
        }
        std::sort(by_size.begin(), by_size.end(), [&](int32_t a, int32_t b) {
            return std::tuple(padded(n_after(a)), padded(n_into(a)), n_into(a), n_after(a), a)
                   < std::tuple(padded(n_after(b)), padded(n_into(b)), n_into(b), n_after(b), b);
        });
    }

    int64_t n_into(int64_t b) const { return into_start[b + 1] - into_start[b]; }
    int64_t n_after(int64_t b) const { return last[b] - first[b]; }
    const int32_t* pairs_into(int64_t b) const { return into.data() + into_start[b]; }
    const int32_t* slots_into(int64_t b) const { return into_slot.data() + into_start[b]; }
    // −1 if there is no such pair.
    int32_t pair(int32_t a, int32_t b) const { return number[(a + 1) * n_tags + b]; }
    int64_t triple(int32_t p, int32_t q) const { return triple_start[p] + q - first[tag[p]]; }
};

// Sequences laid end to end. A token has a score for every tag, or for every pair of tags, or both, in this order; the
// step into it has one for every triple, in one of K tables.
struct SecondOrderShape {
    const TagPairs& pairs;
    bool scores_tags, scores_pairs;
    int64_t n_sequences;
    const int64_t* offsets;  // [n_sequences + 1]
    int64_t n_kinds;         // K
    const int32_t* kind;     // [T]; not read for the first token of a sequence
    const double* weight;    // [n_sequences]; null for ones

    int64_t width() const { return (scores_tags ? pairs.n_tags : 0) + (scores_pairs ? pairs.n_pairs : 0); }
    int64_t first_pair_column() const { return scores_tags ? pairs.n_tags : 0; }
    double weight_of(int64_t i) const { return weight ? weight[i] : 1.0; }
    // The score of a pair at a token, whose row of scores this is.
    double pair_score(const double* row, int64_t p) const {
        return (scores_tags ? row[pairs.tag[p]] : 0.0) + (scores_pairs ? row[first_pair_column() + p] : 0.0);
    }
    // Calls body(t, pair, triple) for the tokens of a sequence; triple is −1 for the first. False: some pair of tags is
    // not there.
    template <class Body>
    bool each_part(int64_t i, const int32_t* tags, Body&& body) const {
        int32_t from = -1, tag_before = -1;
        for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) {
            const int32_t here = pairs.pair(tag_before, tags[t]);
            if (here < 0) return false;
            body(t, here, from < 0 ? int64_t{-1} : pairs.triple(from, here));
            from = here;
            tag_before = tags[t];
        }
        return true;
    }
};

// Numbers of tokens [T][width] and of triples [K][n_triples].
struct SecondOrderScores {
    const double *node, *triple;
};
struct SecondOrderSums {
    double *node, *triple;
};

}  // namespace parsimon
