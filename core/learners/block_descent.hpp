// Block coordinate descent for chains with an elastic net (Sokolovska et al. 2010; Lavergne et al. 2010, §3.4).
//
// A block is all features of one test on the observations: an attribute of tokens with every label, an attribute of
// steps with every pair of labels, or both where they fire together. From the sequences on which the test fires come
// the gradient g and the diagonal h of the Hessian of the block's features, and
//
//     w ← S(h w − g, ρ1) / (h + ρ2)                                                    (eq. 10 there)
//
// with S the soft threshold and h enlarged by `caution`, since features of a block are moved together: how much they
// stand in for each other is not in the diagonal. A block whose next step takes back most of its last one has been
// moved too far; its own caution is doubled, and falls again while steps go on in one direction. Blocks that share no
// sequence do not see each other: they are gone through side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "chains/chain_window.hpp"
#include "chains/label_pairs.hpp"
#include "kernels/kernels.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

class BlockDescent {
  public:
    struct Batch {
        LinearMap node, steps;
        std::vector<int32_t> row;  // [T]: the distinct row of each step
        std::vector<int64_t> offsets;
        std::vector<int32_t> gold;
        std::vector<double> weight;      // per sequence; empty for ones
        std::vector<int64_t> row_start;  // the steps of each distinct row
        std::vector<int32_t> row_steps;
        std::vector<double> scores = {};     // [T][Y]: of nodes, at the present weights
        std::vector<CachedRow> cache = {};   // [rows]
        std::vector<int32_t> kind = {};      // [rows]: the matrix of attributes that fire everywhere; −1 for none
        std::vector<int32_t> sequence = {};  // [T]: of each token
        int64_t first = 0;                   // the number of its first sequence, of all
    };
    struct Cell {
        uint32_t column;  // a label, or a pair of labels
        double value;
    };
    struct Sweep {
        double largest = 0;   // change of a weight
        int64_t changed = 0;  // blocks
    };

    explicit BlockDescent(int32_t n_labels) : Y_(n_labels), S_(padded(n_labels)), ones_(S_, 1.0) {}

    void add(Batch batch) {
        const int64_t T = batch.offsets.back();
        batch.scores.assign(T * Y_, 0.0);
        batch.cache.resize(batch.steps.rows().size());
        batch.sequence.resize(T);
        for (size_t i = 0; i + 1 < batch.offsets.size(); ++i)
            std::fill(batch.sequence.begin() + batch.offsets[i], batch.sequence.begin() + batch.offsets[i + 1],
                      static_cast<int32_t>(i));
        batch.first = n_sequences_;
        n_sequences_ += static_cast<int64_t>(batch.offsets.size()) - 1;
        batches_.push_back(std::move(batch));
    }

    // Puts tests together that fire on the same steps. Call when all batches are there.
    void make_blocks() {
        const int64_t n_node = batches_[0].node.features().n_attributes,
                      n_pair = batches_[0].steps.features().n_attributes;
        weights_[0].resize(n_node);
        weights_[1].resize(n_pair);
        std::unordered_map<uint64_t, std::vector<int64_t>> by_mark;
        const std::vector<uint64_t> node_marks = marks(0, n_node), pair_marks = marks(1, n_pair);
        for (int64_t a = n_pair - 1; a >= 0; --a) by_mark[pair_marks[a]].push_back(a);
        std::vector<char> taken(n_pair, 0);
        for (int64_t a = 0; a < n_node; ++a) {
            const auto at = node_marks[a] ? by_mark.find(node_marks[a]) : by_mark.end();
            int64_t pair = -1;
            if (at != by_mark.end() && !at->second.empty()) {
                pair = at->second.back();
                at->second.pop_back();
                taken[pair] = 1;
            }
            blocks_.emplace_back(a, pair);
        }
        for (int64_t a = 0; a < n_pair; ++a)
            if (!taken[a]) blocks_.emplace_back(-1, a);
        seen_in_.assign(n_sequences_, -1);
        make_matrices(n_pair);
    }

    int64_t n_blocks() const { return static_cast<int64_t>(blocks_.size()); }

    std::vector<int64_t> active_blocks() const {
        std::vector<int64_t> out;
        for (int64_t b = 0; b < n_blocks(); ++b) {
            const auto [node, pair] = blocks_[b];
            if ((node >= 0 && !weights_[0][node].empty()) || (pair >= 0 && !weights_[1][pair].empty()))
                out.push_back(b);
        }
        return out;
    }

    // One step for each of the given blocks, in that order.
    Sweep sweep(const int64_t* which, int64_t n, double l1, double l2, double caution, int threads);

    // Weights by feature number, ascending; features of steps after those of tokens.
    void collect(std::vector<int64_t>& features, std::vector<double>& values) const {
        for (int part = 0; part < 2; ++part) {
            const FeatureRows& rows = part ? batches_[0].steps.features() : batches_[0].node.features();
            const int64_t shift = part ? batches_[0].node.features().size() : 0;
            for (int64_t a = 0; a < rows.n_attributes; ++a)
                for (const Cell& cell : weights_[part][a]) {
                    features.push_back(shift + place(rows, a, column_of(part, cell.column)));
                    values.push_back(cell.value);
                }
        }
    }

    // Weights to begin with.
    void start(const int64_t* features, const double* values, int64_t n) {
        const int64_t cut = batches_[0].node.features().size();
        for (int64_t i = 0; i < n; ++i) {
            const int part = features[i] >= cut;
            const FeatureRows& rows = part ? batches_[0].steps.features() : batches_[0].node.features();
            const int64_t k = features[i] - (part ? cut : 0);
            if (k < 0 || k >= rows.size()) throw std::invalid_argument("no such feature");
            const int64_t a = rows.all
                                  ? k / rows.width
                                  : std::upper_bound(rows.start.begin(), rows.start.end(), k) - rows.start.begin() - 1;
            const int64_t column = rows.all ? k % rows.width : rows.column[k];
            const auto cell = static_cast<uint32_t>(part ? pair_of(column / Y_, column % Y_) : column);
            changes_.assign(1, {cell, values[i]});
            apply(part, a, changes_);
        }
    }

  private:
    struct Firing {
        int32_t batch, token;
        double value;
    };
    // What is known of a block after a look at its sequences: new values of some cells.
    struct Update {
        std::vector<Cell> cells[2];
        double largest = 0;
    };
    struct Sums {  // of one block, or of a piece of it
        std::vector<double> node_g, node_h, pair_g, pair_h;
    };
    // A step with all that its pair marginals are made of.
    struct StoredStep {
        int64_t at;  // into `stored`: left, right, marginals before, marginals here
        const CachedRow* row;
        double value, weight;
        uint32_t gold;
    };

    static constexpr int64_t few_firings = 48, wave = 512;
    // h = p(1 − p) at the present weights says nothing about weights far away: where p is tiny, it grows e-fold with
    // every unit. So no weight goes further than this at once (as the trust regions of Genkin, Lewis & Madigan 2007).
    static constexpr double longest_step = 1.0;

    // Equal for attributes that fire on the same steps with the same values; 0 for none at all.
    std::vector<uint64_t> marks(int part, int64_t n) const {
        std::vector<uint64_t> out(n, 0);
        for (size_t b = 0; b < batches_.size(); ++b) {
            const Batch& batch = batches_[b];
            const auto note = [&](int64_t a, int64_t t, double value) {
                if (t == batch.offsets[batch.sequence[t]]) return;  // nothing steps into it
                uint64_t h = (static_cast<uint64_t>(b) << 40 ^ static_cast<uint64_t>(t)) * 0x9E3779B97F4A7C15ull;
                h ^= h >> 29;
                h *= 0xBF58476D1CE4E5B9ull ^ static_cast<uint64_t>(static_cast<int64_t>(value * 1048576));
                out[a] += h ^ h >> 32;
            };
            const Csr& rows = part ? batch.steps.rows() : batch.node.rows();
            for (int64_t t = 0; t < batch.offsets.back(); ++t) {
                const int64_t r = part ? batch.row[t] : t;
                for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
                    note(rows.index[i], t, rows.value.empty() ? 1.0 : rows.value[i]);
            }
        }
        return out;
    }

    int64_t column_of(int part, uint32_t cell) const { return part ? first_of(cell) * Y_ + second_of(cell) : cell; }
    // The number of a feature within its part; −1 if there is none.
    static int64_t place(const FeatureRows& rows, int64_t a, int64_t column) {
        if (rows.all) return a * rows.width + column;
        const auto first = rows.column.begin() + rows.start[a], last = rows.column.begin() + rows.start[a + 1];
        const auto at = std::lower_bound(first, last, static_cast<int32_t>(column));
        return at != last && *at == column ? at - rows.column.begin() : -1;
    }
    bool exists(int part, int64_t a, uint32_t cell) const {
        return place(part ? batches_[0].steps.features() : batches_[0].node.features(), a, column_of(part, cell)) >= 0;
    }

    // body(batch, token, value) wherever an attribute fires.
    template <class Body>
    void each_firing(int part, int64_t a, Body&& body) const {
        for (size_t b = 0; b < batches_.size(); ++b) {
            const Batch& batch = batches_[b];
            const Csr& attributes = (part ? batch.steps : batch.node).attributes();
            for (int64_t i = attributes.start[a]; i < attributes.start[a + 1]; ++i) {
                const double value = attributes.value.empty() ? 1.0 : attributes.value[i];
                const int32_t r = attributes.index[i];
                if (!part) body(static_cast<int32_t>(b), r, value);
                else
                    for (int64_t s = batch.row_start[r]; s < batch.row_start[r + 1]; ++s)
                        body(static_cast<int32_t>(b), batch.row_steps[s], value);
            }
        }
    }

    // The block's firings in the order of tokens; those of steps are among those of tokens if there are both.
    std::vector<Firing> firings(int64_t block) const {
        const auto [node, pair] = blocks_[block];
        std::vector<Firing> out;
        each_firing(node < 0, node < 0 ? pair : node,
                    [&](int32_t b, int32_t t, double value) { out.push_back({b, t, value}); });
        std::sort(out.begin(), out.end(), [](const Firing& f, const Firing& g) {
            return f.batch != g.batch ? f.batch < g.batch : f.token < g.token;
        });
        return out;
    }

    // Attributes of steps that fire often have many pairs, at many steps: they go into matrices that many rows share,
    // as long as there are few of these.
    void make_matrices(int64_t n_pair) {
        std::vector<int64_t> count(n_pair, 0);
        int64_t n_steps = 0;
        for (int64_t a = 0; a < n_pair; ++a) each_firing(1, a, [&](int32_t, int32_t, double) { ++count[a]; });
        for (const Batch& batch : batches_) n_steps += batch.row_start.back();
        constexpr size_t most = 256;
        for (double share = 0.002;; share *= 2) {
            often_.assign(n_pair, 0);
            for (int64_t a = 0; a < n_pair; ++a)
                often_[a] = static_cast<double>(count[a]) > share * static_cast<double>(n_steps);
            Csr parts;
            parts.start.push_back(0);
            for (const Batch& batch : batches_) {
                const Csr& rows = batch.steps.rows();
                for (int64_t r = 0; r < rows.size(); ++r) {
                    for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
                        if (!often_[rows.index[i]]) continue;
                        parts.index.push_back(rows.index[i]);
                        if (!rows.value.empty()) parts.value.push_back(rows.value[i]);
                    }
                    parts.start.push_back(static_cast<int64_t>(parts.index.size()));
                }
            }
            auto [distinct, which] = distinct_rows(parts);
            if (static_cast<size_t>(distinct.size()) > most && share < 1) continue;
            matrix_parts_ = std::move(distinct);
            matrices_.assign(matrix_parts_.size(), CachedMatrix());
            size_t next = 0;
            for (Batch& batch : batches_)
                for (int64_t r = 0; r < batch.steps.rows().size(); ++r, ++next) {
                    const bool empty = matrix_parts_.start[which[next]] == matrix_parts_.start[which[next] + 1];
                    batch.kind.push_back(empty ? -1 : which[next]);
                }
            return;
        }
    }

    void refresh(CachedMatrix& matrix, int64_t k) const {
        matrix = CachedMatrix();
        matrix.stale = false;
        constexpr double none = -std::numeric_limits<double>::infinity();
        matrix.score.assign(Y_ * S_, none);
        for (int64_t x = 0; x < Y_; ++x) std::fill_n(matrix.score.begin() + x * S_, Y_, 0.0);
        for (int64_t i = matrix_parts_.start[k]; i < matrix_parts_.start[k + 1]; ++i) {
            const double value = matrix_parts_.value.empty() ? 1.0 : matrix_parts_.value[i];
            for (const Cell& cell : weights_[1][matrix_parts_.index[i]])
                matrix.score[first_of(cell.column) * S_ + second_of(cell.column)] += value * cell.value;
        }
        matrix.lifted = matrix.score;
        kernels().exponentials(matrix.lifted.data(), Y_ * S_);
        matrix.score_back.assign(Y_ * S_, none);
        matrix.lifted_back.assign(Y_ * S_, 0.0);
        for (int64_t x = 0; x < Y_; ++x)
            for (int64_t y = 0; y < Y_; ++y) {
                const double score = matrix.score[x * S_ + y];
                matrix.score_back[y * S_ + x] = score;
                matrix.lifted_back[y * S_ + x] = matrix.lifted[x * S_ + y];
                matrix.low = std::min(matrix.low, score);
                matrix.high = std::max(matrix.high, score);
            }
    }

    void refresh(Batch& batch, int64_t r) const {
        CachedRow& row = batch.cache[r];
        if (!row.stale) return;
        thread_local std::vector<std::pair<uint32_t, double>> found;
        found.clear();
        const Csr& rows = batch.steps.rows();
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            if (often_[rows.index[i]]) continue;
            const double value = rows.value.empty() ? 1.0 : rows.value[i];
            for (const Cell& cell : weights_[1][rows.index[i]]) found.emplace_back(cell.column, value * cell.value);
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        row = CachedRow();
        row.stale = false;
        row.matrix = batch.kind[r] < 0 ? nullptr : &matrices_[batch.kind[r]];
        for (const auto& [pair, score] : found) {
            if (!row.pair.empty() && row.pair.back() == pair) row.score.back() += score;
            else {
                row.pair.push_back(pair);
                row.score.push_back(score);
            }
        }
        row.lifted = row.score;
        kernels().exponentials(row.lifted.data(), static_cast<int64_t>(row.lifted.size()));
        for (size_t e = 0; e < row.score.size(); ++e) {
            row.low = std::min(row.low, row.score[e]);
            row.high = std::max(row.high, row.score[e]);
            row.loses_digits = row.loses_digits || row.lifted[e] < 1e-5;
        }
    }

    // Rows of all steps of the sequences that are going to be looked at.
    void refresh_all(const std::vector<std::pair<int32_t, int32_t>>& sequences, int threads) {
        parallel_for(static_cast<int64_t>(matrices_.size()), matrices_changed_ ? threads : 1, [&](int64_t k, int) {
            if (matrices_changed_ && matrices_[k].stale) refresh(matrices_[k], k);
        });
        matrices_changed_ = false;
        stale_.clear();
        for (const auto& [b, i] : sequences) {
            Batch& batch = batches_[b];
            for (int64_t t = batch.offsets[i] + 1; t < batch.offsets[i + 1]; ++t) {
                CachedRow& row = batch.cache[batch.row[t]];
                if (!row.stale || row.high < 0) continue;
                row.high = -1;  // listed
                stale_.emplace_back(b, batch.row[t]);
            }
        }
        parallel_for(static_cast<int64_t>(stale_.size()), stale_.size() > 64 ? threads : 1,
                     [&](int64_t i, int) { refresh(batches_[stale_[i].first], stale_[i].second); });
    }

    // Marginals of the tokens of one sequence from the first to the last on which a block fires (and the one before).
    void look(const Batch& batch, int64_t i, int64_t first, int64_t last, WindowWork& work) const {
        const int64_t at = batch.offsets[i], T = batch.offsets[i + 1] - at;
        work.rows.assign(T, nullptr);
        for (int64_t t = 1; t < T; ++t) work.rows[t] = &batch.cache[batch.row[at + t]];
        const double weight = batch.weight.empty() ? 1.0 : batch.weight[i];
        if (!kernels().chain_window(work, batch.scores.data() + at * Y_, T, static_cast<int32_t>(Y_),
                                    {std::max<int64_t>(first - 1, 0), last}, weight))
            throw std::runtime_error("the weights have grown beyond what can be added up; use a larger penalty");
    }

    // body(first, last, work) for the firings within each sequence.
    template <class Body>
    void by_sequence(const std::vector<Firing>& all, size_t begin, size_t end, WindowWork& work, Body&& body) const {
        while (begin < end) {
            const Batch& batch = batches_[all[begin].batch];
            const int32_t i = batch.sequence[all[begin].token];
            size_t next = begin + 1;
            while (next < end && all[next].batch == all[begin].batch && batch.sequence[all[next].token] == i) ++next;
            if (batch.weight.empty() || batch.weight[i] > 0) {
                const int64_t at = batch.offsets[i];
                look(batch, i, all[begin].token - at, all[next - 1].token - at, work);
                for (size_t f = begin; f < next; ++f) body(all[f], batch, i, all[f].token - at);
            }
            begin = next;
        }
    }

    void add_node(const Firing& f, const Batch& batch, int64_t i, int64_t t, const WindowWork& work, Sums& sums) const {
        const double weight = batch.weight.empty() ? 1.0 : batch.weight[i];
        const double* mu = work.node.data() + t * Y_;
        for (int64_t y = 0; y < Y_; ++y) {
            sums.node_g[y] += f.value * mu[y];
            sums.node_h[y] += f.value * f.value * mu[y] * (1 - mu[y] / weight);
        }
        sums.node_g[batch.gold[f.token]] -= f.value * weight;
    }

    // P(x, y) of all pairs at a step.
    void add_pairs(const Firing& f, const Batch& batch, int64_t i, int64_t t, const WindowWork& work,
                   Sums& sums) const {
        const double weight = batch.weight.empty() ? 1.0 : batch.weight[i], inverse = 1 / weight,
                     squared = f.value * f.value;
        const double *left = work.alpha.data() + (t - 1) * S_, *right = work.right.data() + t * S_;
        const CachedRow& row = *work.rows[t];
        for (int64_t x = 0; x < Y_; ++x) {
            double *g = sums.pair_g.data() + x * S_, *h = sums.pair_h.data() + x * S_;
            const double* matrix = row.matrix ? row.matrix->lifted.data() + x * S_ : ones_.data();
            for (int64_t y = 0; y < S_; ++y) {
                const double p = left[x] * right[y] * matrix[y];
                g[y] += f.value * p;
                h[y] += squared * p * (1 - p * inverse);
            }
        }
        for (size_t e = 0; e < row.pair.size(); ++e) {
            const int64_t x = first_of(row.pair[e]), y = second_of(row.pair[e]);
            const double before = left[x] * right[y] * (row.matrix ? row.matrix->lifted[x * S_ + y] : 1.0),
                         p = before * row.lifted[e];
            sums.pair_g[x * S_ + y] += f.value * (p - before);
            sums.pair_h[x * S_ + y] += squared * (p * (1 - p * inverse) - before * (1 - before * inverse));
        }
        sums.pair_g[batch.gold[f.token - 1] * S_ + batch.gold[f.token]] -= f.value * weight;
    }

    bool steps_into(const Batch& batch, const Firing& f) const {
        return f.token > batch.offsets[batch.sequence[f.token]];
    }

    // The new value of a weight, or the old one.
    static double moved(double w, double g, double h, double l1, double l2) {
        const double z = h * w - g;
        const double left = std::abs(z) - l1;
        return left > 0 ? std::copysign(left, z) / (h + l2) : 0.0;
    }

    double weight_of(int part, int64_t a, uint32_t cell) const {
        const auto& row = weights_[part][a];
        const auto at =
            std::lower_bound(row.begin(), row.end(), cell, [](const Cell& c, uint32_t k) { return c.column < k; });
        return at != row.end() && at->column == cell ? at->value : 0.0;
    }

    struct Strengths {
        double l1, l2, caution;
    };
    // What is remembered of a block that has moved.
    struct Memory {
        std::vector<Cell> last[2];  // its last step
        double caution = 1;         // on top of everybody's
    };
    Strengths own(int64_t block, Strengths s) const {
        const auto at = memory_.find(block);
        if (at != memory_.end()) s.caution *= at->second.caution;
        return s;
    }
    void remember(int64_t block, const Update& update) {
        Memory& memory = memory_[block];
        double both = 0, before = 0, now = 0;
        for (int part = 0; part < 2; ++part) {
            const auto &old = memory.last[part], &next = update.cells[part];
            size_t i = 0;
            for (const Cell& cell : old) {
                before += cell.value * cell.value;
                while (i < next.size() && next[i].column < cell.column) ++i;
                if (i < next.size() && next[i].column == cell.column) both += cell.value * next[i].value;
            }
            for (const Cell& cell : next) now += cell.value * cell.value;
            memory.last[part] = next;
        }
        if (both < -0.25 * std::sqrt(before * now) && now > 0.1 * before)
            memory.caution = std::min(2 * memory.caution, 1e6);
        else if (both > 0) memory.caution = std::max(1.0, 0.8 * memory.caution);
    }

    void consider(int part, int64_t a, uint32_t cell, double g, double h, const Strengths& s, Update& update) const {
        const double w = weight_of(part, a, cell);
        if (w == 0 && std::abs(g) <= s.l1) return;
        if (!exists(part, a, cell)) return;
        const double wanted = moved(w, g, s.caution * h + 1e-10, s.l1, s.l2);
        const double next = std::clamp(wanted, w - longest_step, w + longest_step);
        if (next == w) return;
        update.cells[part].push_back({cell, next - w});
        update.largest = std::max(update.largest, std::abs(next - w));
    }

    void consider_nodes(int64_t a, const Sums& sums, const Strengths& s, Update& update) const {
        for (int64_t y = 0; y < Y_; ++y)
            consider(0, a, static_cast<uint32_t>(y), sums.node_g[y], sums.node_h[y], s, update);
    }

    // A block that fires everywhere: whole matrices of sums, sequences side by side.
    Update large(int64_t block, const std::vector<Firing>& all, const Strengths& strengths, int threads) {
        const auto [node, pair] = blocks_[block];
        std::vector<int64_t> cuts{0};
        const size_t piece = std::max<size_t>(256, all.size() / 32);
        for (size_t f = piece; f < all.size(); ++f) {
            const bool new_sequence =
                all[f].batch != all[f - 1].batch
                || batches_[all[f].batch].sequence[all[f].token] != batches_[all[f].batch].sequence[all[f - 1].token];
            if (new_sequence && f - cuts.back() >= piece) cuts.push_back(static_cast<int64_t>(f));
        }
        cuts.push_back(static_cast<int64_t>(all.size()));
        std::vector<Sums> sums(cuts.size() - 1);
        parallel_for(static_cast<int64_t>(sums.size()), threads, [&](int64_t p, int worker) {
            clear(sums[p], pair >= 0);
            WindowWork& work = work_[worker];
            by_sequence(all, cuts[p], cuts[p + 1], work,
                        [&](const Firing& f, const Batch& batch, int64_t i, int64_t t) {
                            if (node >= 0) add_node(f, batch, i, t, work, sums[p]);
                            if (pair >= 0 && t > 0) add_pairs(f, batch, i, t, work, sums[p]);
                        });
        });
        for (size_t p = 1; p < sums.size(); ++p)
            for (auto part : {&Sums::node_g, &Sums::node_h, &Sums::pair_g, &Sums::pair_h})
                for (size_t k = 0; k < (sums[0].*part).size(); ++k) (sums[0].*part)[k] += (sums[p].*part)[k];
        Update update;
        if (node >= 0) consider_nodes(node, sums[0], strengths, update);
        if (pair >= 0)
            for (uint32_t x = 0; x < Y_; ++x)
                for (uint32_t y = 0; y < Y_; ++y)
                    consider(1, pair, pair_of(x, y), sums[0].pair_g[x * S_ + y], sums[0].pair_h[x * S_ + y], strengths,
                             update);
        return update;
    }

    void clear(Sums& sums, bool pairs) const {
        sums.node_g.assign(Y_, 0.0);
        sums.node_h.assign(Y_, 0.0);
        sums.pair_g.assign(pairs ? Y_ * S_ : 0, 0.0);
        sums.pair_h.assign(pairs ? Y_ * S_ : 0, 0.0);
    }

    // A block that fires rarely: only pairs of labels with enough probability on both sides can have a gradient above
    // ρ1.
    Update small(int64_t block, const std::vector<Firing>& all, const Strengths& strengths, WindowWork& work) const {
        const auto [node, pair] = blocks_[block];
        Sums sums;
        clear(sums, false);
        std::vector<double> stored, sides(2 * Y_, 0.0);
        std::vector<StoredStep> steps;
        by_sequence(all, 0, all.size(), work, [&](const Firing& f, const Batch& batch, int64_t i, int64_t t) {
            if (node >= 0) add_node(f, batch, i, t, work, sums);
            if (pair < 0 || t == 0) return;
            const double *left = work.alpha.data() + (t - 1) * S_, *right = work.right.data() + t * S_,
                         *mu = work.node.data() + (t - 1) * Y_;
            steps.push_back({static_cast<int64_t>(stored.size()), work.rows[t], f.value,
                             batch.weight.empty() ? 1.0 : batch.weight[i],
                             pair_of(batch.gold[f.token - 1], batch.gold[f.token])});
            stored.insert(stored.end(), left, left + Y_);
            stored.insert(stored.end(), right, right + Y_);
            for (int64_t y = 0; y < 2 * Y_; ++y) sides[y] += std::abs(f.value) * mu[y];
        });
        Update update;
        if (node >= 0) consider_nodes(node, sums, strengths, update);
        if (pair < 0 || steps.empty()) return update;
        std::vector<uint32_t> pairs;
        for (uint32_t x = 0; x < Y_; ++x)
            if (sides[x] > strengths.l1)
                for (uint32_t y = 0; y < Y_; ++y)
                    if (sides[Y_ + y] > strengths.l1) pairs.push_back(pair_of(x, y));
        for (const StoredStep& step : steps) pairs.push_back(step.gold);
        for (const Cell& cell : weights_[1][pair]) pairs.push_back(cell.column);
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        for (const uint32_t k : pairs) {
            double g = 0, h = 0;
            for (const StoredStep& step : steps) {
                double p = stored[step.at + first_of(k)] * stored[step.at + Y_ + second_of(k)];
                if (step.row->matrix) p *= step.row->matrix->lifted[first_of(k) * S_ + second_of(k)];
                const auto at = std::lower_bound(step.row->pair.begin(), step.row->pair.end(), k);
                if (at != step.row->pair.end() && *at == k) p *= step.row->lifted[at - step.row->pair.begin()];
                g += step.value * (p - (k == step.gold ? step.weight : 0.0));
                h += step.value * step.value * p * (1 - p / step.weight);
            }
            consider(1, pair, k, g, h, strengths, update);
        }
        return update;
    }

    // Adds changes to the weights of an attribute, and to what was computed from them.
    void apply(int part, int64_t a, const std::vector<Cell>& changes) {
        if (changes.empty()) return;
        auto& row = weights_[part][a];
        for (const Cell& change : changes) {
            const auto at = std::lower_bound(row.begin(), row.end(), change.column,
                                             [](const Cell& c, uint32_t k) { return c.column < k; });
            if (at != row.end() && at->column == change.column) at->value += change.value;
            else row.insert(at, change);
        }
        std::erase_if(row, [](const Cell& cell) { return cell.value == 0; });
        if (part && often_[a]) {
            for (int64_t k = 0; k < matrix_parts_.size(); ++k)
                for (int64_t i = matrix_parts_.start[k]; i < matrix_parts_.start[k + 1]; ++i)
                    if (matrix_parts_.index[i] == a) matrices_[k].stale = matrices_changed_ = true;
            return;
        }
        if (part) {
            for (Batch& batch : batches_) {
                const Csr& attributes = batch.steps.attributes();
                for (int64_t i = attributes.start[a]; i < attributes.start[a + 1]; ++i) {
                    batch.cache[attributes.index[i]].stale = true;
                    batch.cache[attributes.index[i]].high = 0;
                }
            }
            return;
        }
        each_firing(0, a, [&](int32_t b, int32_t t, double value) {
            for (const Cell& change : changes) batches_[b].scores[t * Y_ + change.column] += value * change.value;
        });
    }

    void finish(int64_t block, const Update& update, Sweep& told) {
        const auto [node, pair] = blocks_[block];
        if (update.largest > 0 || memory_.contains(block)) remember(block, update);
        if (node >= 0) apply(0, node, update.cells[0]);
        if (pair >= 0) apply(1, pair, update.cells[1]);
        told.changed += update.largest > 0;
        told.largest = std::max(told.largest, update.largest);
    }

    int64_t Y_, S_;
    std::vector<double> ones_;
    std::vector<char> often_;  // attributes of steps that are in matrices
    Csr matrix_parts_;         // which attributes make up each matrix
    std::vector<CachedMatrix> matrices_;
    bool matrices_changed_ = true;
    int64_t n_sequences_ = 0;
    std::vector<Batch> batches_;
    std::vector<std::vector<Cell>> weights_[2];        // of attributes of tokens, and of steps; none is zero
    std::vector<std::pair<int64_t, int64_t>> blocks_;  // attribute of tokens, attribute of steps; −1 for none
    std::vector<int64_t> seen_in_;                     // the wave in which a sequence was last
    std::vector<std::pair<int32_t, int32_t>> stale_;
    std::vector<Cell> changes_;
    std::unordered_map<int64_t, Memory> memory_;
    std::vector<WindowWork> work_;
};

inline BlockDescent::Sweep BlockDescent::sweep(const int64_t* which, int64_t n, double l1, double l2, double caution,
                                               int threads) {
    const Strengths strengths{l1, l2, caution};
    work_.resize(std::max(threads, 1));
    Sweep told;
    std::fill(seen_in_.begin(), seen_in_.end(), -1);
    std::vector<std::vector<Firing>> all;
    std::vector<Update> updates;
    std::vector<std::pair<int32_t, int32_t>> sequences;
    int64_t wave_number = 0;
    for (int64_t next = 0; next < n; ++wave_number) {
        // A wave: small blocks in a row that share no sequence, or one large block.
        all.clear();
        sequences.clear();
        int64_t end = next;
        for (; end < n && end - next < wave; ++end) {
            std::vector<Firing> own = firings(which[end]);
            const bool is_large = static_cast<int64_t>(own.size()) >= few_firings;
            if (is_large && end > next) break;
            const size_t before = sequences.size();
            bool shared = false;
            for (const Firing& f : own) {
                const Batch& batch = batches_[f.batch];
                const int32_t i = batch.sequence[f.token];
                int64_t& seen = seen_in_[batch.first + i];
                if (seen == wave_number && !is_large
                    && std::find(sequences.begin() + before, sequences.end(), std::pair{f.batch, i})
                           == sequences.end()) {
                    shared = true;
                    break;
                }
                if (seen == wave_number) continue;
                seen = wave_number;
                sequences.emplace_back(f.batch, i);
            }
            if (shared) {
                sequences.resize(before);
                break;
            }
            all.push_back(std::move(own));
            if (is_large) {
                ++end;
                break;
            }
        }
        refresh_all(sequences, threads);
        if (all.size() == 1 && static_cast<int64_t>(all[0].size()) >= few_firings) {
            finish(which[next], large(which[next], all[0], own(which[next], strengths), threads), told);
        } else {
            updates.assign(all.size(), {});
            parallel_for(static_cast<int64_t>(all.size()), all.size() > 3 ? threads : 1, [&](int64_t k, int worker) {
                updates[k] = small(which[next + k], all[k], own(which[next + k], strengths), work_[worker]);
            });
            for (size_t k = 0; k < all.size(); ++k) finish(which[next + static_cast<int64_t>(k)], updates[k], told);
        }
        next = end;
    }
    return told;
}

}  // namespace parsimon
