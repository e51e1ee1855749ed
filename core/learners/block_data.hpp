// The data of block coordinate descent: which attributes fire where, and which of them make a block.
//
// There are attributes of tokens (part 0), which have a feature with every label, and of steps between tokens (part 1),
// which have one with every pair of labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chains/label_pairs.hpp"
#include "maps/csr.hpp"
#include "maps/feature_rows.hpp"
#include "maps/linear_map.hpp"

namespace parsimon {

// Sequences laid end to end.
struct BlockBatch {
    LinearMap node, steps;
    std::vector<int32_t> row;  // [T]: the distinct row of each step
    std::vector<int64_t> offsets;
    std::vector<int32_t> gold;
    std::vector<double> weight;      // per sequence; empty for ones
    std::vector<int64_t> row_start;  // the steps of each distinct row
    std::vector<int32_t> row_steps;

    double weight_of(int64_t i) const { return weight.empty() ? 1.0 : weight[i]; }
};

// A place where an attribute fires: at a token, or at the step into it.
struct BlockFiring {
    int32_t batch, token;
    double value;
};

// A sequence, as the number of its batch and its number there.
using BatchSequence = std::pair<int32_t, int32_t>;

// An attribute of tokens and an attribute of steps that fire together; −1 where there is none.
struct Block {
    int64_t node, pair;
};

class BlockData {
  public:
    explicit BlockData(int64_t n_labels) : Y_(n_labels) {}

    void add(BlockBatch batch) {
        std::vector<int32_t> sequence(batch.offsets.back());
        for (size_t i = 0; i + 1 < batch.offsets.size(); ++i)
            std::fill(sequence.begin() + batch.offsets[i], sequence.begin() + batch.offsets[i + 1],
                      static_cast<int32_t>(i));
        sequence_.push_back(std::move(sequence));
        first_.push_back(first_.back() + static_cast<int64_t>(batch.offsets.size()) - 1);
        batches_.push_back(std::move(batch));
    }

    const std::vector<BlockBatch>& batches() const { return batches_; }
    const BlockBatch& batch(int32_t b) const { return batches_[b]; }
    int64_t n_sequences() const { return first_.back(); }

    BatchSequence sequence(const BlockFiring& f) const { return {f.batch, sequence_[f.batch][f.token]}; }
    // The number of a sequence among those of all batches.
    int64_t number(BatchSequence s) const { return first_[s.first] + s.second; }

    const FeatureRows& features(int part) const {
        return part ? batches_[0].steps.features() : batches_[0].node.features();
    }
    // A cell is a label, or a pair of labels in one number (see label_pairs.hpp). Its feature's number within its part;
    // −1 if there is none.
    int64_t feature(int part, int64_t a, uint32_t cell) const {
        return features(part).feature(a, part ? first_of(cell) * Y_ + second_of(cell) : cell);
    }
    uint32_t cell(int part, int64_t column) const {
        return static_cast<uint32_t>(part ? pair_of(column / Y_, column % Y_) : column);
    }

    // body(batch, token, value) wherever an attribute fires.
    template <class Body>
    void each_firing(int part, int64_t a, Body&& body) const {
        for (size_t b = 0; b < batches_.size(); ++b) {
            const BlockBatch& batch = batches_[b];
            const AttributeRows& attributes = (part ? batch.steps : batch.node).attributes();
            const auto [begin, end] = attributes.entries_of(a);
            for (int64_t i = begin; i < end; ++i) {
                const double value = attributes.value.empty() ? 1.0 : attributes.value[i];
                const int32_t r = attributes.index[i];
                if (!part) body(static_cast<int32_t>(b), r, value);
                else
                    for (int64_t s = batch.row_start[r]; s < batch.row_start[r + 1]; ++s)
                        body(static_cast<int32_t>(b), batch.row_steps[s], value);
            }
        }
    }

    // The firings of a block in the order of tokens; those of steps are among those of tokens if there are both.
    std::vector<BlockFiring> firings(Block block) const {
        std::vector<BlockFiring> out;
        each_firing(block.node < 0, block.node < 0 ? block.pair : block.node,
                    [&](int32_t b, int32_t t, double value) { out.push_back({b, t, value}); });
        std::sort(out.begin(), out.end(), [](const BlockFiring& f, const BlockFiring& g) {
            return f.batch != g.batch ? f.batch < g.batch : f.token < g.token;
        });
        return out;
    }

    // Every attribute is in one block. An attribute of tokens and one of steps that fire together are in the same.
    std::vector<Block> blocks() const {
        const int64_t n_node = features(0).n_attributes, n_pair = features(1).n_attributes;
        const std::vector<uint64_t> node_prints = fingerprints(0), pair_prints = fingerprints(1);
        std::unordered_map<uint64_t, std::vector<int64_t>> pairs_with;
        for (int64_t a = n_pair - 1; a >= 0; --a) pairs_with[pair_prints[a]].push_back(a);
        std::vector<char> taken(n_pair, 0);
        std::vector<Block> out;
        for (int64_t a = 0; a < n_node; ++a) {
            const auto at = node_prints[a] ? pairs_with.find(node_prints[a]) : pairs_with.end();
            int64_t pair = -1;
            if (at != pairs_with.end() && !at->second.empty()) {
                pair = at->second.back();
                at->second.pop_back();
                taken[pair] = 1;
            }
            out.push_back({a, pair});
        }
        for (int64_t a = 0; a < n_pair; ++a)
            if (!taken[a]) out.push_back({-1, a});
        return out;
    }

  private:
    // A hash of the steps on which each attribute of a part fires, and of the values; 0 for none at all.
    std::vector<uint64_t> fingerprints(int part) const {
        std::vector<uint64_t> out(features(part).n_attributes, 0);
        for (size_t b = 0; b < batches_.size(); ++b) {
            const BlockBatch& batch = batches_[b];
            const Csr& rows = part ? batch.steps.rows() : batch.node.rows();
            for (int64_t t = 0; t < batch.offsets.back(); ++t) {
                if (t == batch.offsets[sequence_[b][t]]) continue;  // there is no step into the first token
                const int64_t r = part ? batch.row[t] : t;
                for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
                    out[rows.index[i]] += hashed(b, t, rows.value.empty() ? 1.0 : rows.value[i]);
            }
        }
        return out;
    }

    // Values are taken to six digits or so after the point.
    static uint64_t hashed(size_t batch, int64_t token, double value) {
        uint64_t h = (static_cast<uint64_t>(batch) << 40 ^ static_cast<uint64_t>(token)) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 29;
        h *= 0xBF58476D1CE4E5B9ull ^ static_cast<uint64_t>(static_cast<int64_t>(value * 1048576));
        return h ^ h >> 32;
    }

    int64_t Y_;
    std::vector<BlockBatch> batches_;
    std::vector<std::vector<int32_t>> sequence_;  // of each token of each batch
    std::vector<int64_t> first_{0};               // the number of each batch's first sequence, and of all
};

}  // namespace parsimon
