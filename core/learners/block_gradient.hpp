// The step of one block, from the sequences on which it fires: gradient, diagonal of the Hessian, new weights.
//
//     g = Σ value · (P − [gold])        h = Σ value² · P (1 − P)        w ← S(h w − g, ρ1) / (h + ρ2)
//
// with S the soft threshold (Sokolovska et al. 2010, eq. 10). Sums are over the firings; P is the marginal of a label,
// or of a pair of labels, there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/threads.hpp"
#include "chains/chain_window.hpp"
#include "chains/label_pairs.hpp"
#include "kernels/kernels.hpp"
#include "learners/block_caution.hpp"
#include "learners/block_data.hpp"
#include "learners/block_scores.hpp"
#include "learners/block_weights.hpp"

namespace parsimon {

// The elastic net ρ1 ‖w‖₁ + ρ2/2 ‖w‖², and what h is multiplied by.
struct BlockStrengths {
    double l1, l2, caution;
};

class BlockGradient {
  public:
    BlockGradient(const BlockData& data, const BlockWeights& weights, const BlockScores& scores, int64_t n_labels)
        : data_(data), weights_(weights), scores_(scores), Y_(n_labels), S_(padded(n_labels)), ones_(S_, 1.0) {}

    // A block that fires often: whole matrices of sums, with threads over sequences. `work` is one a thread.
    BlockStep frequent(Block block, const std::vector<BlockFiring>& firings, const BlockStrengths& strengths,
                       std::vector<WindowWork>& work, int threads) const {
        const std::vector<size_t> cuts = cut_between_sequences(firings);
        std::vector<Sums> sums(cuts.size() - 1);
        parallel_for(static_cast<int64_t>(sums.size()), threads, [&](int64_t p, int worker) {
            sums[p] = Sums(Y_, block.pair >= 0 ? Y_ * S_ : 0);
            over_firings(firings, cuts[p], cuts[p + 1], work[worker], [&](const Place& at) {
                if (block.node >= 0) add_node(at, sums[p]);
                if (block.pair >= 0 && at.t > 0) add_pairs(at, sums[p]);
            });
        });
        for (size_t p = 1; p < sums.size(); ++p) sums[0].add(sums[p]);
        BlockStep step;
        if (block.node >= 0) step_nodes(block.node, sums[0], strengths, step);
        if (block.pair >= 0)
            for (uint32_t x = 0; x < Y_; ++x)
                for (uint32_t y = 0; y < Y_; ++y)
                    step_cell(1, block.pair, pair_of(x, y), sums[0].pair_g[x * S_ + y], sums[0].pair_h[x * S_ + y],
                              strengths, step);
        return step;
    }

    // A block that fires rarely: pair by pair, and only those that can have a gradient above ρ1.
    BlockStep rare(Block block, const std::vector<BlockFiring>& firings, const BlockStrengths& strengths,
                   WindowWork& work) const {
        Sums sums(Y_, 0);
        StoredSteps steps(Y_);
        over_firings(firings, 0, firings.size(), work, [&](const Place& at) {
            if (block.node >= 0) add_node(at, sums);
            if (block.pair >= 0 && at.t > 0) store(at, steps);
        });
        BlockStep step;
        if (block.node >= 0) step_nodes(block.node, sums, strengths, step);
        if (block.pair < 0 || steps.all.empty()) return step;
        for (const uint32_t pair : candidate_pairs(block.pair, steps, strengths.l1)) {
            double g = 0, h = 0;
            for (const StoredStep& stored : steps.all) {
                const double p = probability(stored, steps.numbers.data() + stored.at, pair);
                g += stored.value * (p - (pair == stored.gold ? stored.weight : 0.0));
                h += stored.value * stored.value * p * (1 - p / stored.weight);
            }
            step_cell(1, block.pair, pair, g, h, strengths, step);
        }
        return step;
    }

  private:
    // h = p(1 − p) at the present weights says nothing about weights far away: where p is tiny, it grows e-fold with
    // every unit. So no weight goes further than this at once (as the trust regions of Genkin, Lewis & Madigan 2007).
    static constexpr double longest_step = 1.0;
    // Added to h, which may be zero.
    static constexpr double smallest_curvature = 1e-10;

    struct Sums {
        std::vector<double> node_g, node_h, pair_g, pair_h;  // [Y], [Y], [Y][stride], [Y][stride]

        Sums() = default;
        Sums(int64_t n_labels, int64_t n_pairs)
            : node_g(n_labels, 0.0), node_h(n_labels, 0.0), pair_g(n_pairs, 0.0), pair_h(n_pairs, 0.0) {}

        void add(const Sums& other) {
            for (auto part : {&Sums::node_g, &Sums::node_h, &Sums::pair_g, &Sums::pair_h})
                for (size_t k = 0; k < (this->*part).size(); ++k) (this->*part)[k] += (other.*part)[k];
        }
    };

    // A firing, in a sequence whose marginals are in `work`.
    struct Place {
        const BlockFiring& firing;
        const BlockBatch& batch;
        double weight;  // of the sequence
        int64_t t;      // within the sequence
        const WindowWork& work;
    };

    // Steps with all that their pair marginals are made of: P(x, y) = left[x] · pair(x, y) · right[y].
    struct StoredStep {
        int64_t at;  // where left [Y] and right [Y] start
        const CachedRow* row;
        double value, weight;
        uint32_t gold;
    };
    struct StoredSteps {
        std::vector<StoredStep> all;
        std::vector<double> numbers;
        std::vector<double>
            sides;  // [2][Y]: Σ |value| P(label) over the steps, of the label before and of the label here

        explicit StoredSteps(int64_t n_labels) : sides(2 * n_labels, 0.0) {}
    };

    // Pieces of about equal size, a fixed number of them whatever the number of threads.
    std::vector<size_t> cut_between_sequences(const std::vector<BlockFiring>& firings) const {
        constexpr size_t smallest = 256, most = 32;
        std::vector<size_t> cuts{0};
        const size_t piece = std::max(smallest, firings.size() / most);
        for (size_t f = piece; f < firings.size(); ++f)
            if (data_.sequence(firings[f]) != data_.sequence(firings[f - 1]) && f - cuts.back() >= piece)
                cuts.push_back(f);
        cuts.push_back(firings.size());
        return cuts;
    }

    // body(place) for firings first … last − 1, after a look at the sequence that each is in.
    template <class Body>
    void over_firings(const std::vector<BlockFiring>& firings, size_t first, size_t last, WindowWork& work,
                      Body&& body) const {
        while (first < last) {
            const BatchSequence sequence = data_.sequence(firings[first]);
            size_t next = first + 1;
            while (next < last && data_.sequence(firings[next]) == sequence) ++next;
            const BlockBatch& batch = data_.batch(sequence.first);
            const double weight = batch.weight_of(sequence.second);
            if (weight > 0) {
                const int64_t at = batch.offsets[sequence.second];
                find_marginals(sequence, firings[first].token - at, firings[next - 1].token - at, weight, work);
                for (size_t f = first; f < next; ++f)
                    body(Place{firings[f], batch, weight, firings[f].token - at, work});
            }
            first = next;
        }
    }

    // Marginals of the tokens of one sequence from the first to the last on which a block fires, and the one before.
    void find_marginals(BatchSequence sequence, int64_t first, int64_t last, double weight, WindowWork& work) const {
        const auto [b, i] = sequence;
        const BlockBatch& batch = data_.batch(b);
        const int64_t at = batch.offsets[i], T = batch.offsets[i + 1] - at;
        work.rows.assign(T, nullptr);
        for (int64_t t = 1; t < T; ++t) work.rows[t] = &scores_.row(b, at + t);
        const LabelWindow window{std::max<int64_t>(first - 1, 0), last};
        if (!kernels().chain_window(work, scores_.node(b) + at * Y_, T, static_cast<int32_t>(Y_), window, weight))
            throw std::overflow_error("the weights have grown beyond what can be added up");
    }

    void add_node(const Place& at, Sums& sums) const {
        const double value = at.firing.value;
        const double* mu = at.work.node.data() + at.t * Y_;
        for (int64_t y = 0; y < Y_; ++y) {
            sums.node_g[y] += value * mu[y];
            sums.node_h[y] += value * value * mu[y] * (1 - mu[y] / at.weight);
        }
        sums.node_g[at.batch.gold[at.firing.token]] -= value * at.weight;
    }

    // P(x, y) of all pairs at a step: as if there were no single pairs, and then what these change.
    void add_pairs(const Place& at, Sums& sums) const {
        const double value = at.firing.value, inverse = 1 / at.weight, squared = value * value;
        const double *left = at.work.alpha.data() + (at.t - 1) * S_, *right = at.work.right.data() + at.t * S_;
        const CachedRow& row = *at.work.rows[at.t];
        for (int64_t x = 0; x < Y_; ++x) {
            double *g = sums.pair_g.data() + x * S_, *h = sums.pair_h.data() + x * S_;
            const double* matrix = row.matrix ? row.matrix->lifted.data() + x * S_ : ones_.data();
            for (int64_t y = 0; y < S_; ++y) {
                const double p = left[x] * right[y] * matrix[y];
                g[y] += value * p;
                h[y] += squared * p * (1 - p * inverse);
            }
        }
        for (size_t e = 0; e < row.pair.size(); ++e) {
            const int64_t x = first_of(row.pair[e]), y = second_of(row.pair[e]);
            const double without = left[x] * right[y] * (row.matrix ? row.matrix->lifted[x * S_ + y] : 1.0);
            const double p = without * row.lifted[e];
            sums.pair_g[x * S_ + y] += value * (p - without);
            sums.pair_h[x * S_ + y] += squared * (p * (1 - p * inverse) - without * (1 - without * inverse));
        }
        sums.pair_g[at.batch.gold[at.firing.token - 1] * S_ + at.batch.gold[at.firing.token]] -= value * at.weight;
    }

    void store(const Place& at, StoredSteps& steps) const {
        const double* left = at.work.alpha.data() + (at.t - 1) * S_;
        const double* right = at.work.right.data() + at.t * S_;
        const double* mu = at.work.node.data() + (at.t - 1) * Y_;  // of the label before, and then of the label here
        const std::vector<int32_t>& gold = at.batch.gold;
        steps.all.push_back({static_cast<int64_t>(steps.numbers.size()), at.work.rows[at.t], at.firing.value, at.weight,
                             pair_of(gold[at.firing.token - 1], gold[at.firing.token])});
        steps.numbers.insert(steps.numbers.end(), left, left + Y_);
        steps.numbers.insert(steps.numbers.end(), right, right + Y_);
        for (int64_t y = 0; y < 2 * Y_; ++y) steps.sides[y] += std::abs(at.firing.value) * mu[y];
    }

    // P(x, y) is at most P(x) and at most P(y). So the gradient of a pair can only be above ρ1 if both sides add up to
    // that, or if gold has the pair; and weights that are not zero move anyway.
    std::vector<uint32_t> candidate_pairs(int64_t a, const StoredSteps& steps, double l1) const {
        std::vector<uint32_t> pairs;
        for (uint32_t x = 0; x < Y_; ++x)
            if (steps.sides[x] > l1)
                for (uint32_t y = 0; y < Y_; ++y)
                    if (steps.sides[Y_ + y] > l1) pairs.push_back(pair_of(x, y));
        for (const StoredStep& step : steps.all) pairs.push_back(step.gold);
        for (const CellValue& weight : weights_.row(1, a)) pairs.push_back(weight.cell);
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }

    double probability(const StoredStep& step, const double* sides, uint32_t pair) const {
        const int32_t x = first_of(pair), y = second_of(pair);
        double p = sides[x] * sides[Y_ + y];
        if (step.row->matrix) p *= step.row->matrix->lifted[x * S_ + y];
        const auto& singles = step.row->pair;
        const auto at = std::lower_bound(singles.begin(), singles.end(), pair);
        if (at != singles.end() && *at == pair) p *= step.row->lifted[at - singles.begin()];
        return p;
    }

    void step_nodes(int64_t a, const Sums& sums, const BlockStrengths& strengths, BlockStep& step) const {
        for (int64_t y = 0; y < Y_; ++y)
            step_cell(0, a, static_cast<uint32_t>(y), sums.node_g[y], sums.node_h[y], strengths, step);
    }

    // Adds the change of one weight to the step, if the weight changes.
    void step_cell(int part, int64_t a, uint32_t cell, double g, double h, const BlockStrengths& strengths,
                   BlockStep& step) const {
        const double w = weights_.value(part, a, cell);
        if (w == 0 && std::abs(g) <= strengths.l1) return;
        if (data_.feature(part, a, cell) < 0) return;
        const double wanted = minimiser(w, g, strengths.caution * h + smallest_curvature, strengths);
        const double next = std::clamp(wanted, w - longest_step, w + longest_step);
        if (next == w) return;
        step.cells[part].push_back({cell, next - w});
        step.largest = std::max(step.largest, std::abs(next - w));
    }

    // S(h w − g, ρ1) / (h + ρ2)
    static double minimiser(double w, double g, double h, const BlockStrengths& strengths) {
        const double z = h * w - g, left = std::abs(z) - strengths.l1;
        return left > 0 ? std::copysign(left, z) / (h + strengths.l2) : 0.0;
    }

    const BlockData& data_;
    const BlockWeights& weights_;
    const BlockScores& scores_;
    int64_t Y_, S_;
    std::vector<double> ones_;  // a row of the matrix of a step that has none
};

}  // namespace parsimon
