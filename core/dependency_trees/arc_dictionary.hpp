// The attributes of arcs that a model knows, numbered template by template.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "dependency_trees/arc_range.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "input/attribute_table.hpp"

namespace parsimon {

class ArcDictionary {
  public:
    explicit ArcDictionary(std::vector<ArcTemplate> templates)
        : templates_(std::move(templates)), tables_(templates_.size()), ends_(templates_.size()),
          first_(templates_.size() + 1, 0) {
        for (const ArcTemplate& t : templates_)
            for (int s = 0; s < 2; ++s) side_of_[s].push_back(sides_.number(s, t.side[s]));
    }

    int32_t n_templates() const { return static_cast<int32_t>(templates_.size()); }
    int64_t size() const { return first_.back(); }
    const ArcTemplate& operator[](int32_t t) const { return templates_[t]; }
    const AttributeTable& table(int32_t t) const { return tables_[t]; }
    // Whether any attribute of a template has this key, apart from what is between the ends of the arc.
    bool maybe_between(int32_t t, uint64_t key) const { return ends_[t]->maybe(key); }
    const std::vector<int64_t>& first() const { return first_; }  // attribute of each template, and of all
    const ArcSides& sides() const { return sides_; }
    int32_t side_of(int s, int32_t t) const { return side_of_[s][t]; }

    // Those that fire on at least `cutoff` of the given arcs (the head of every token, −1 for none), as in McDonald's
    // MSTParser. They are numbered in the order in which they reach it.
    static ArcDictionary supported(std::vector<ArcTemplate> templates, const ArcSentences& sentences,
                                   const int32_t* heads, int32_t cutoff, int threads) {
        ArcDictionary out(std::move(templates));
        std::vector<std::vector<uint64_t>> keys(out.n_templates());
        parallel_for(out.n_templates(), threads, [&](int64_t t, int) {
            std::vector<uint64_t> all;
            Ends ends(out[t]);
            out.each_of_arcs(static_cast<int32_t>(t), sentences, heads, [&](uint64_t key, const int32_t* value) {
                all.push_back(key);
                ends.add(key, value);
            });
            keys[t] = frequent(all, cutoff);
            out.ends_[t] = ends.filter();
        });
        out.fill(keys, threads);
        return out;
    }

    // From the values of all attributes (see `values`), so many of each template.
    static ArcDictionary of_values(std::vector<ArcTemplate> templates, const int64_t* counts, const int32_t* values) {
        ArcDictionary out(std::move(templates));
        std::vector<std::vector<uint64_t>> keys(out.n_templates());
        for (int32_t t = 0; t < out.n_templates(); ++t) {
            Ends ends(out[t]);
            for (int64_t k = 0; k < counts[t]; ++k, values += out[t].n_tests()) {
                keys[t].push_back(arc_key::of(out[t], values));
                ends.add(keys[t].back(), values);
            }
            out.ends_[t] = ends.filter();
        }
        out.fill(keys, 1);
        return out;
    }

    // Of some attributes only (ascending), numbered anew.
    ArcDictionary restricted(const int64_t* attributes, int64_t n) const {
        ArcDictionary out(templates_);
        out.ends_ = ends_;
        for (int32_t t = 0; t < n_templates(); ++t) {
            const int64_t* begin = std::lower_bound(attributes, attributes + n, first_[t]);
            const int64_t* end = std::lower_bound(begin, attributes + n, first_[t + 1]);
            out.first_[t + 1] = end - attributes;
            out.tables_[t] = AttributeTable(end - begin, begin - attributes);
            if (begin == end) continue;
            std::vector<int32_t> number(first_[t + 1] - first_[t], -1);
            for (const int64_t* a = begin; a < end; ++a) number[*a - first_[t]] = static_cast<int32_t>(a - attributes);
            tables_[t].each([&](uint64_t key, int32_t a) {
                if (number[a - first_[t]] >= 0) out.tables_[t].add(key, number[a - first_[t]]);
            });
        }
        return out;
    }

    // The values of the tests of every attribute, template by template; false if one does not fire on these arcs.
    bool values(const ArcSentences& sentences, const int32_t* heads, std::vector<int32_t>& out, int threads) const {
        std::vector<int64_t> start{0};
        for (int32_t t = 0; t < n_templates(); ++t)
            start.push_back(start.back() + (first_[t + 1] - first_[t]) * templates_[t].n_tests());
        out.assign(start.back(), 0);
        std::vector<char> seen(size(), 0);
        parallel_for(n_templates(), threads, [&](int64_t t, int) {
            if (!tables_[t].size()) return;
            const int32_t n = templates_[t].n_tests();
            each_of_arcs(static_cast<int32_t>(t), sentences, heads, [&](uint64_t key, const int32_t* value) {
                const int32_t a = tables_[t].maybe(key) ? tables_[t].find(key) : -1;
                if (a < 0 || seen[a]) return;
                seen[a] = 1;
                std::copy(value, value + n, out.begin() + start[t] + (a - first_[t]) * n);
            });
        });
        return std::find(seen.begin(), seen.end(), 0) == seen.end();
    }

    // Appends the attributes of one arc.
    void attributes(const ArcSentences& sentences, int64_t i, int32_t head, int32_t modifier,
                    std::vector<int32_t>& out) const {
        for (int32_t t = 0; t < n_templates(); ++t) {
            const AttributeTable& table = tables_[t];
            if (!table.size()) continue;
            each_attribute(templates_[t], sentences, i, head, modifier, [&](uint64_t key, const int32_t*) {
                const int32_t a = table.maybe(key) ? table.find(key) : -1;
                if (a >= 0) out.push_back(a);
            });
        }
    }

  private:
    // Gathers the keys of a template without what is between the ends.
    class Ends {
      public:
        explicit Ends(const ArcTemplate& what) : what_(what) {}
        void add(uint64_t key, const int32_t* value) {
            if (what_.between >= 0) keys_.push_back(key - arc_key::between(value[what_.between_at()]));
        }
        std::shared_ptr<const KeyFilter> filter() const {
            if (what_.between < 0) return nullptr;
            const std::vector<uint64_t> each = frequent(keys_, 1);
            auto out = std::make_shared<KeyFilter>(static_cast<int64_t>(each.size()));
            for (const uint64_t key : each) out->add(key);
            return out;
        }

      private:
        const ArcTemplate& what_;
        std::vector<uint64_t> keys_;
    };

    template <class Body>
    void each_of_arcs(int32_t t, const ArcSentences& sentences, const int32_t* heads, Body&& body) const {
        for (int64_t i = 0; i < sentences.size(); ++i)
            for (int32_t m = 1; m <= sentences.length(i); ++m) {
                const int32_t h = heads[sentences.offsets()[i] + m - 1];
                if (h >= 0 && h != m) each_attribute(templates_[t], sentences, i, h, m, body);
            }
    }

    static std::vector<uint64_t> frequent(const std::vector<uint64_t>& keys, int32_t cutoff) {
        const uint64_t mask = std::bit_ceil(keys.size() * 2 + 1) - 1;
        std::vector<int64_t> slot(mask + 1, -1);  // the first place where a key is
        std::vector<int32_t> count(keys.size(), 0);
        std::vector<uint64_t> out;
        for (size_t k = 0; k < keys.size(); ++k) {
            uint64_t at = keys[k] & mask;
            while (slot[at] >= 0 && keys[slot[at]] != keys[k]) at = (at + 1) & mask;
            if (slot[at] < 0) slot[at] = static_cast<int64_t>(k);
            if (++count[slot[at]] == cutoff) out.push_back(keys[k]);
        }
        return out;
    }

    void fill(const std::vector<std::vector<uint64_t>>& keys, int threads) {
        for (int32_t t = 0; t < n_templates(); ++t) first_[t + 1] = first_[t] + static_cast<int64_t>(keys[t].size());
        if (size() > std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2^31 attributes of arcs");
        parallel_for(n_templates(), threads, [&](int64_t t, int) {
            tables_[t] = AttributeTable(static_cast<int64_t>(keys[t].size()), first_[t]);
            for (const uint64_t key : keys[t]) tables_[t].add(key);
        });
    }

    std::vector<ArcTemplate> templates_;
    std::vector<AttributeTable> tables_;
    std::vector<std::shared_ptr<const KeyFilter>> ends_;  // of templates that look between; else null
    std::vector<int64_t> first_;
    ArcSides sides_;
    std::vector<int32_t> side_of_[2];
};

}  // namespace parsimon
