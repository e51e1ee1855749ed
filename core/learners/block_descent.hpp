// Block coordinate descent for chains with an elastic net (Sokolovska et al. 2010; Lavergne et al. 2010, §3.4).
//
// A block is all features of one test on the observations: an attribute of tokens with every label, an attribute of
// steps with every pair of labels, or both where they fire together (block_data.hpp). Its step comes from the gradient
// and the diagonal of the Hessian of its features (block_gradient.hpp), the latter enlarged by a caution that every
// block has of its own (block_caution.hpp). Blocks that share no sequence do not see each other: their steps are found
// side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "chains/chain_window.hpp"
#include "learners/block_caution.hpp"
#include "learners/block_data.hpp"
#include "learners/block_gradient.hpp"
#include "learners/block_scores.hpp"
#include "learners/block_weights.hpp"

namespace parsimon {

class BlockDescent {
  public:
    struct Report {
        double largest = 0;   // change of a weight
        int64_t changed = 0;  // blocks
    };

    explicit BlockDescent(int32_t n_labels) : n_labels_(n_labels), data_(n_labels) {}
    BlockDescent(const BlockDescent&) = delete;

    int64_t n_labels() const { return n_labels_; }
    size_t n_batches() const { return data_.batches().size(); }
    const FeatureRows& features(int part) const { return data_.features(part); }

    void add(BlockBatch batch) { data_.add(std::move(batch)); }

    // Call when all batches are there, and before all that follows.
    void make_blocks() {
        blocks_ = data_.blocks();
        weights_.emplace(data_.features(0).n_attributes, data_.features(1).n_attributes);
        scores_.emplace(data_, *weights_, n_labels_);
        gradient_.emplace(data_, *weights_, *scores_, n_labels_);
        seen_in_.assign(data_.n_sequences(), 0);
    }

    bool has_blocks() const { return weights_.has_value(); }
    int64_t n_blocks() const { return static_cast<int64_t>(blocks_.size()); }

    // The blocks with a weight that is not zero.
    std::vector<int64_t> active_blocks() const {
        const auto active = [this](int part, int64_t a) { return a >= 0 && !weights_->row(part, a).empty(); };
        std::vector<int64_t> out;
        for (int64_t b = 0; b < n_blocks(); ++b)
            if (active(0, blocks_[b].node) || active(1, blocks_[b].pair)) out.push_back(b);
        return out;
    }

    // One step for each of the given blocks, in that order.
    Report sweep(const int64_t* which, int64_t n, double l1, double l2, double caution, int threads) {
        work_.resize(std::max(threads, 1));
        Report report;
        while (n > 0) {
            const int64_t size = collect_wave(which, n);
            scores_->refresh(wave_.sequences, threads);
            for (int64_t k = 0; const BlockStep& step : wave_steps(which, {l1, l2, caution}, threads)) {
                apply(which[k++], step);
                report.changed += step.largest > 0;
                report.largest = std::max(report.largest, step.largest);
            }
            which += size;
            n -= size;
        }
        return report;
    }

    // Weights by feature number, ascending; features of steps after those of tokens.
    void collect(std::vector<int64_t>& features, std::vector<double>& values) const {
        for (int part = 0; part < 2; ++part)
            for (int64_t a = 0; a < data_.features(part).n_attributes; ++a)
                for (const CellValue& weight : weights_->row(part, a)) {
                    features.push_back((part ? data_.features(0).size() : 0) + data_.feature(part, a, weight.cell));
                    values.push_back(weight.value);
                }
    }

    // Weights to begin with.
    void start(const int64_t* features, const double* values, int64_t n) {
        const int64_t cut = data_.features(0).size();
        for (int64_t i = 0; i < n; ++i) {
            const int part = features[i] >= cut;
            const FeatureRows::Place at = data_.features(part).place(features[i] - (part ? cut : 0));
            change(part, at.attribute, {{data_.cell(part, at.column), values[i]}});
        }
    }

  private:
    // A block that fires at least so often has threads and whole matrices for itself.
    static constexpr size_t frequent_firings = 48;
    // More blocks at a time would hold much memory and bring nothing.
    static constexpr int64_t most_in_wave = 512;

    // Blocks in a row whose steps are found side by side: rare ones that share no sequence, or one that is frequent.
    struct Wave {
        std::vector<std::vector<BlockFiring>> firings;  // of each block
        std::vector<BatchSequence> sequences;           // on which they fire
        bool frequent = false;
    };

    // The next wave; returns how many blocks are in it.
    int64_t collect_wave(const int64_t* which, int64_t n) {
        wave_.firings.clear();
        wave_.sequences.clear();
        wave_.frequent = false;
        ++wave_number_;
        int64_t size = 0;
        for (; size < std::min(n, most_in_wave) && !wave_.frequent; ++size) {
            std::vector<BlockFiring> firings = data_.firings(blocks_[which[size]]);
            const bool frequent = firings.size() >= frequent_firings;
            if ((frequent && size > 0) || !add_sequences(firings)) break;
            wave_.firings.push_back(std::move(firings));
            wave_.frequent = frequent;
        }
        return size;
    }

    // False, and nothing is added, if a block before has one of the sequences. Firings come sequence by sequence.
    bool add_sequences(const std::vector<BlockFiring>& firings) {
        const size_t before = wave_.sequences.size();
        for (const BlockFiring& f : firings) {
            const BatchSequence sequence = data_.sequence(f);
            if (wave_.sequences.size() > before && wave_.sequences.back() == sequence) continue;
            int64_t& seen = seen_in_[data_.number(sequence)];
            if (seen == wave_number_) {
                wave_.sequences.resize(before);
                return false;
            }
            seen = wave_number_;
            wave_.sequences.push_back(sequence);
        }
        return true;
    }

    std::vector<BlockStep> wave_steps(const int64_t* which, const BlockStrengths& strengths, int threads) {
        constexpr int64_t few = 3;  // blocks that are done before a thread has started
        const auto n = static_cast<int64_t>(wave_.firings.size());
        std::vector<BlockStep> steps(n);
        const auto own = [&](int64_t block) {
            return BlockStrengths{strengths.l1, strengths.l2, strengths.caution * caution_.of(block)};
        };
        if (wave_.frequent)
            steps[0] = gradient_->frequent(blocks_[which[0]], wave_.firings[0], own(which[0]), work_, threads);
        else
            parallel_for(n, n > few ? threads : 1, [&](int64_t k, int worker) {
                steps[k] = gradient_->rare(blocks_[which[k]], wave_.firings[k], own(which[k]), work_[worker]);
            });
        return steps;
    }

    void apply(int64_t block, const BlockStep& step) {
        caution_.learn(block, step);
        if (blocks_[block].node >= 0) change(0, blocks_[block].node, step.cells[0]);
        if (blocks_[block].pair >= 0) change(1, blocks_[block].pair, step.cells[1]);
    }

    void change(int part, int64_t a, const CellValues& changes) {
        weights_->add(part, a, changes);
        scores_->update(part, a, changes);
    }

    int64_t n_labels_;
    BlockData data_;
    std::vector<Block> blocks_;
    // Of all data; made by make_blocks.
    std::optional<BlockWeights> weights_;
    std::optional<BlockScores> scores_;
    std::optional<BlockGradient> gradient_;
    BlockCaution caution_;
    Wave wave_;
    int64_t wave_number_ = 0;
    std::vector<int64_t> seen_in_;  // the wave in which a sequence was last
    std::vector<WindowWork> work_;  // one a thread
};

}  // namespace parsimon
