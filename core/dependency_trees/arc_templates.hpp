// Templates of arcs, the sentences they look at, and the key of an attribute.
//
// A template is a conjunction of tests on an arc head → modifier: a column of the head, of the modifier, or of a token
// at some distance from either; a column of the tokens between the two, each of whose values makes an attribute of its
// own; the direction and the length of the arc. An attribute is a template with the values that its tests have found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace parsimon {

// The values of tokens, by number. A column may have any number of different values a token (morphological features).
struct ArcColumn {
    std::vector<int64_t> start;  // [n_tokens + 1]; empty when every token has one value
    std::vector<int32_t> value;
};

// Sentences laid end to end. Where there is no token, a test finds a value of its own. All arcs are looked at, or those
// that a first pass has left.
class ArcSentences {
  public:
    static constexpr int32_t unknown = -1, root = 0, before = 1, after = 2;  // numbers from 3 on are of tokens

    ArcSentences(std::vector<int64_t> offsets, std::vector<ArcColumn> columns)
        : offsets_(std::move(offsets)), columns_(std::make_shared<const std::vector<ArcColumn>>(std::move(columns))),
          arcs_{0} {
        for (int64_t i = 0; i < size(); ++i)
            arcs_.push_back(arcs_.back() + static_cast<int64_t>(length(i)) * (length(i) + 1));
    }

    // The same sentences with only these heads of each token, ascending and not the token itself.
    ArcSentences only(std::vector<int64_t> head_start, std::vector<int32_t> heads) const {
        ArcSentences out(*this);
        out.head_start_ = std::move(head_start);
        out.heads_ = std::move(heads);
        return out;
    }

    int64_t size() const { return static_cast<int64_t>(offsets_.size()) - 1; }
    int32_t length(int64_t i) const { return static_cast<int32_t>(offsets_[i + 1] - offsets_[i]); }
    const std::vector<int64_t>& offsets() const { return offsets_; }  // of tokens
    const std::vector<int64_t>& arcs() const { return arcs_; }        // of arcs, as arcs.hpp has them
    int64_t n_columns() const { return static_cast<int64_t>(columns_->size()); }
    bool single(int32_t column) const { return (*columns_)[column].start.empty(); }

    bool all_arcs() const { return head_start_.empty(); }
    // Those of a token, from all sentences' first one on; only where not all arcs are looked at.
    std::span<const int32_t> heads(int64_t token) const {
        return {heads_.data() + head_start_[token], heads_.data() + head_start_[token + 1]};
    }

    // How many arcs of the sentences first … last − 1 are looked at.
    int64_t looked_at(int64_t first, int64_t last) const {
        return all_arcs() ? arcs_[last] - arcs_[first] : head_start_[offsets_[last]] - head_start_[offsets_[first]];
    }

    // The values at a place in a sentence: 0 is the root, tokens count from 1.
    std::span<const int32_t> values(int32_t column, int64_t i, int32_t place) const {
        static constexpr int32_t edge[] = {root, before, after};
        if (place == 0) return {edge, 1};
        if (place < 0) return {edge + 1, 1};
        if (place > length(i)) return {edge + 2, 1};
        const ArcColumn& c = (*columns_)[column];
        const int64_t token = offsets_[i] + place - 1;
        if (c.start.empty()) return {c.value.data() + token, 1};
        return {c.value.data() + c.start[token], static_cast<size_t>(c.start[token + 1] - c.start[token])};
    }

  private:
    std::vector<int64_t> offsets_;
    std::shared_ptr<const std::vector<ArcColumn>> columns_;
    std::vector<int64_t> arcs_;
    std::vector<int64_t> head_start_;  // [n_tokens + 1]; empty when all arcs are looked at
    std::vector<int32_t> heads_;
};

// Lengths of arcs fall into buckets: 1, 2, 3, 4, 5, 6–10, 11–20, more; and arcs from the root.
struct ArcLengths {
    static constexpr int32_t n = 9, from_root = 8;

    static int32_t bucket(int32_t length) { return length <= 5 ? length - 1 : length <= 10 ? 5 : length <= 20 ? 6 : 7; }
    // Direction (0: the head is before the modifier) and length in one number.
    static int32_t code(int32_t head, int32_t modifier) {
        if (head == 0) return from_root;
        return head < modifier ? bucket(modifier - head) : n + bucket(head - modifier);
    }
    static constexpr int32_t n_codes = 2 * n;
    // What is seen of a code by who looks at the direction, the length, both or nothing.
    static int32_t seen(bool direction, bool length, int32_t code) {
        if (direction) return length ? code : code / n;
        return length ? code % n : 0;
    }
};

struct ArcTest {
    int32_t offset, column;
    bool operator==(const ArcTest&) const = default;
};

struct ArcTemplate {
    static constexpr int32_t at_head = 0, at_modifier = 1, at_between = 2, of_direction = 3, of_length = 4;
    static constexpr int32_t most_tests = 12;

    std::vector<ArcTest> side[2];  // of the head, of the modifier
    int32_t between = -1;          // a column
    bool direction = false, length = false;

    int32_t n_tests() const {
        return static_cast<int32_t>(side[0].size() + side[1].size()) + (between >= 0) + (direction || length);
    }
    // Which of the values of its tests is that of a token between.
    size_t between_at() const { return side[0].size() + side[1].size(); }
    // What it sees of an arc's code, 0 … n_seen − 1.
    int32_t seen(int32_t code) const { return ArcLengths::seen(direction, length, code); }
    int32_t n_seen() const { return (direction ? 2 : 1) * (length ? ArcLengths::n : 1); }
};

// Keys. Those of one template differ with the values of its tests; every template has a table of its own. A key is the
// sum of four numbers that look like random ones, so that all but the sum itself is done once a token, not once an arc.
namespace arc_key {

inline uint64_t mixed(uint64_t h, uint64_t value) {
    h = (h ^ (value + 0x632BE59BD9B4E019ull)) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 32);
}
inline uint64_t finished(uint64_t h) {  // SplitMix64 (Steele et al. 2014)
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
    return h ^ (h >> 31);
}
constexpr uint64_t begin[2] = {0x243F6A8885A308D3ull, 0x13198A2E03707344ull};
inline uint64_t between(int32_t value) { return finished(mixed(0xA4093822299F31D0ull, static_cast<uint32_t>(value))); }
inline uint64_t code(int32_t seen) { return finished(mixed(0x082EFA98EC4E6C89ull, static_cast<uint32_t>(seen))); }

// The key of the values of all tests, in the order: head's, modifier's, between, code.
inline uint64_t of(const ArcTemplate& t, const int32_t* value) {
    uint64_t key = 0;
    for (int s = 0; s < 2; ++s) {
        if (t.side[s].empty()) continue;
        uint64_t h = begin[s];
        for (size_t k = 0; k < t.side[s].size(); ++k) h = mixed(h, static_cast<uint32_t>(*value++));
        key += finished(h);
    }
    if (t.between >= 0) key += between(*value++);
    if (t.direction || t.length) key += code(*value++);
    return key;
}

}  // namespace arc_key

// body(key, values) for every attribute of one arc: for all combinations of values that the tests find.
template <class Body>
void each_attribute(const ArcTemplate& t, const ArcSentences& sentences, int64_t i, int32_t head, int32_t modifier,
                    Body&& body) {
    std::span<const int32_t> found[ArcTemplate::most_tests];
    int32_t n = 0;
    const int32_t place[2] = {head, modifier};
    for (int s = 0; s < 2; ++s)
        for (const ArcTest& test : t.side[s]) {
            found[n] = sentences.values(test.column, i, place[s] + test.offset);
            if (found[n++].empty()) return;
        }
    std::vector<int32_t> between;
    if (t.between >= 0) {
        const int32_t first = std::min(head, modifier) + 1, last = std::max(head, modifier);
        for (int32_t p = first; p < last; ++p)
            for (const int32_t v : sentences.values(t.between, i, p))
                if (std::find(between.begin(), between.end(), v) == between.end()) between.push_back(v);
        if (between.empty()) return;
        found[n++] = between;
    }
    const int32_t seen = t.seen(ArcLengths::code(head, modifier));
    if (t.direction || t.length) found[n++] = {&seen, 1};
    uint32_t at[ArcTemplate::most_tests] = {};
    int32_t value[ArcTemplate::most_tests];
    for (int32_t k = 0; k < n; ++k) value[k] = found[k][0];
    while (true) {
        body(arc_key::of(t, value), value);
        int32_t k = n - 1;  // the next combination, the last test's values first
        for (; k >= 0 && ++at[k] == found[k].size(); --k) value[k] = found[k][at[k] = 0];
        if (k < 0) return;
        value[k] = found[k][at[k]];
    }
}

}  // namespace parsimon
