// Φ of a parser: the attributes of all arcs of a sentence, expanded whenever they are needed and never stored.
//
// Attributes are numbered template by template. Templates that look at one end of an arc only (and its direction and
// length) are looked up once a token, not once an arc: their scores gather in cells of tokens, which are added to the
// arcs in the end, and their gradients the other way round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/threads.hpp"
#include "dependency_trees/arc_templates.hpp"
#include "dependency_trees/arcs.hpp"
#include "input/attribute_table.hpp"

namespace parsimon {

// The attributes that a model knows.
class ArcDictionary {
  public:
    explicit ArcDictionary(std::vector<ArcTemplate> templates)
        : templates_(std::move(templates)), tables_(templates_.size()), ends_(templates_.size()),
          first_(templates_.size() + 1, 0) {
        for (const ArcTemplate& t : templates_)
            for (int s = 0; s < 2; ++s) {
                const auto at = std::find(sides_[s].begin(), sides_[s].end(), t.side[s]);
                side_of_[s].push_back(static_cast<int32_t>(at - sides_[s].begin()));
                if (at == sides_[s].end()) sides_[s].push_back(t.side[s]);
            }
    }

    int32_t n_templates() const { return static_cast<int32_t>(templates_.size()); }
    int64_t size() const { return first_.back(); }
    const ArcTemplate& operator[](int32_t t) const { return templates_[t]; }
    const AttributeTable& table(int32_t t) const { return tables_[t]; }
    // Whether any attribute of a template has this key, apart from what is between the ends of the arc.
    bool maybe_between(int32_t t, uint64_t key) const { return ends_[t]->maybe(key); }
    const std::vector<int64_t>& first() const { return first_; }  // attribute of each template, and of all
    const std::vector<std::vector<ArcTest>>& sides(int s) const { return sides_[s]; }  // each once
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
    std::vector<std::vector<ArcTest>> sides_[2];
    std::vector<int32_t> side_of_[2];
};

// A number for each token, as head and as modifier, and for what templates may see of the arcs there.
class ArcTokenCells {
  public:
    static constexpr int32_t width = 1 + 2 + ArcLengths::n + ArcLengths::n_codes;

    // Where the cells of a template are, among those of a token.
    static int32_t place(bool direction, bool length) {
        return direction ? (length ? 3 + ArcLengths::n : 1) : (length ? 3 : 0);
    }

    void resize(const ArcSentences& sentences, int64_t first, int64_t last) {
        sentences_ = &sentences;
        first_ = first;
        const int64_t tokens = sentences.offsets()[last] - sentences.offsets()[first] + (last - first);
        for (auto& cells : cells_) cells.assign(tokens * width, 0.0);
    }
    double* of(int s, int64_t i) {
        return cells_[s].data() + (sentences_->offsets()[i] - sentences_->offsets()[first_] + (i - first_)) * width;
    }

    // Adds the cells of a sentence's tokens to its arcs, and the numbers of arcs to the cells.
    void give(int64_t i, double* arcs) {
        each(i, [](double& cell, double& arc) { arc += cell; }, arcs);
    }
    void take(int64_t i, const double* arcs) {
        each(i, [](double& cell, const double& arc) { cell += arc; }, arcs);
    }

  private:
    template <class Body, class Number>
    void each(int64_t i, Body&& body, Number* arcs) {
        const int32_t n = sentences_->length(i);
        double *of_head = of(0, i), *of_modifier = of(1, i);
        for (int32_t m = 1; m <= n; ++m)
            for (int32_t h = 0; h <= n; ++h) {
                if (h == m) continue;
                Number& arc = arcs[arc_at(n, h, m)];
                const int32_t code = ArcLengths::code(h, m);
                const int32_t at[] = {0, 1 + code / ArcLengths::n, 3 + code % ArcLengths::n, 3 + ArcLengths::n + code};
                for (const int32_t k : at) {
                    body(of_head[h * width + k], arc);
                    body(of_modifier[m * width + k], arc);
                }
            }
    }

    const ArcSentences* sentences_ = nullptr;
    int64_t first_ = 0;
    std::vector<double> cells_[2];
};

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

// scores = Φ w of the sentences first … last − 1, laid end to end. Template after template over some sentences, so that
// a template's table and weights stay in the cache.
inline void arc_scores(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
                       const double* w, double* out, int threads) {
    const auto& arcs = sentences.arcs();
    std::fill(out, out + (arcs[last] - arcs[first]), 0.0);
    const auto cuts =
        balanced_cuts(arcs.data() + first, last - first, std::max<int64_t>(16, (arcs[last] - arcs[first]) >> 14));
    parallel_for(static_cast<int64_t>(cuts.size()) - 1, threads, [&](int64_t piece, int) {
        const int64_t begin = first + cuts[piece], end = first + cuts[piece + 1];
        ArcVisitor visitor(dictionary, sentences);
        ArcTokenCells tokens;
        tokens.resize(sentences, begin, end);
        const auto add = [w](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
            for (int32_t j = 0; j < n; ++j) cells[hits[j].cell] += w[hits[j].attribute];
        };
        for (int32_t t = 0; t < dictionary.n_templates(); ++t) {
            if (!dictionary.table(t).size()) continue;
            for (int64_t i = begin; i < end; ++i) {
                visitor.begin(i);
                visitor.visit(t, out + arcs[i] - arcs[first], tokens, w, add);
            }
        }
        for (int64_t i = begin; i < end; ++i) tokens.give(i, out + arcs[i] - arcs[first]);
    });
}

// out += Φᵀ parts. Threads over templates: each has a range of `out` of its own.
inline void arc_pullback(const ArcDictionary& dictionary, const ArcSentences& sentences, int64_t first, int64_t last,
                         const double* parts, double* out, int threads) {
    const auto& arcs = sentences.arcs();
    ArcTokenCells tokens;
    tokens.resize(sentences, first, last);
    parallel_for(last - first, threads,
                 [&](int64_t k, int) { tokens.take(first + k, parts + arcs[first + k] - arcs[first]); });
    parallel_for(dictionary.n_templates(), threads, [&](int64_t t, int) {
        if (!dictionary.table(static_cast<int32_t>(t)).size()) return;
        ArcVisitor visitor(dictionary, sentences);
        const auto add = [out](double* cells, const ArcVisitor::Hit* hits, int32_t n) {
            for (int32_t j = 0; j < n; ++j) out[hits[j].attribute] += cells[hits[j].cell];
        };
        for (int64_t i = first; i < last; ++i) {
            visitor.begin(i);
            visitor.visit(static_cast<int32_t>(t), const_cast<double*>(parts) + arcs[i] - arcs[first], tokens, out,
                          add);
        }
    });
}

}  // namespace parsimon
