// Online learning on chains: rounds of asking a structure for an output and moving the weights (Martins et al. 2011,
// Algorithm 1, between two proximal steps).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "linear_map.hpp"
#include "online_weights.hpp"

namespace parsimon {

// What is asked of the structure, which makes the loss: perceptron, hinge or log.
enum class Question { argmax, cost_argmax, marginals };

// How far to go: a given step, or as far as the loss of this instance asks for, but at most `most` (passive-aggressive;
// for the hinge loss this is max-loss 1-best MIRA, Crammer et al. 2006):
//
//     τ = min(most, loss / ‖f(gold) − f(ŷ)‖²)
struct Step {
    bool passive_aggressive;
    double size;  // or the most
};

struct OnlineSums {
    double loss = 0;
    int64_t mistakes = 0;  // instances whose output was not gold
};

// Whole passes over chains.
class OnlineChain {
  public:
    struct Batch {
        LinearMap node, pair;
        std::vector<int64_t> offsets;
        std::vector<int32_t> kind, gold;
        std::vector<double> weight;  // per sequence; empty for ones
    };

    OnlineChain(int32_t n_labels, OnlineWeights weights) : n_labels_(n_labels), weights_(std::move(weights)) {}

    OnlineWeights& weights() { return weights_; }
    int64_t n_sequences() const { return first_.back(); }

    void add(Batch batch) {
        first_.push_back(first_.back() + static_cast<int64_t>(batch.offsets.size()) - 1);
        local_.resize(std::max<size_t>(local_.size(), batch.pair.rows().size()), -1);
        batches_.push_back(std::move(batch));
    }

    // One round for each of the given sequences, in that order.
    OnlineSums run(const int64_t* order, int64_t n, Question question, double cost, Step step) {
        OnlineSums sums;
        for (int64_t i = 0; i < n; ++i) {
            const auto which = std::upper_bound(first_.begin(), first_.end(), order[i]) - first_.begin() - 1;
            sums.loss += learn(batches_[which], order[i] - first_[which], question, cost, step);
            sums.mistakes += !differences_[0].empty();
            weights_.next_round();
        }
        return sums;
    }

  private:
    struct Difference {  // gold − μ at one part
        int32_t row;
        uint32_t column;
        double value;
    };
    struct Change {
        int32_t part, attribute;
        uint32_t column;
        double value;
    };

    double learn(const Batch& batch, int64_t i, Question question, double cost, Step step) {
        const int64_t Y = n_labels_, at = batch.offsets[i], T = batch.offsets[i + 1] - at;
        for (auto& list : differences_) list.clear();
        if (T == 0) return 0;
        row_of_token_ = static_cast<int32_t>(at);
        const int32_t* gold = batch.gold.data() + at;
        score(batch, at, T);
        double attained = 0;
        for (int64_t t = 0; t < T; ++t) {
            attained += node_[t * Y + gold[t]];
            if (t) attained += pair_[(kind_[t] * Y + gold[t - 1]) * Y + gold[t]];
        }
        const int64_t offsets[2] = {0, T};
        const double weight = batch.weight.empty() ? 1.0 : batch.weight[i];
        double loss;
        if (question == Question::marginals) loss = marginals(gold, T, offsets) - attained;
        else loss = best(gold, T, offsets, question == Question::cost_argmax ? cost : 0.0) - attained;
        for (const int32_t kind : kinds_) local_[kind] = -1;
        // A wrong output that scores no better than gold is still wrong: at w = 0 all outputs do.
        if ((differences_[0].empty() && differences_[1].empty()) || weight == 0) return 0;
        if (question == Question::marginals) {
            for (int p = 0; p < 2; ++p) {
                const Csr& rows = (p ? batch.pair : batch.node).rows();
                for (const Difference& d : differences_[p]) spread(rows, d, step.size * weight, [&](int32_t a, double by) {
                    weights_.add(p, a, d.column, by);
                });
            }
            return loss * weight;
        }
        merge(batch);
        double size = step.size;
        if (step.passive_aggressive) {
            double norm = 0;
            for (const Change& change : changes_) norm += change.value * change.value;
            size = norm > 0 ? std::min(step.size, loss / norm) : 0;
        }
        for (const Change& change : changes_) weights_.add(change.part, change.attribute, change.column, size * weight * change.value);
        return loss * weight;
    }

    // Part scores of one sequence; kinds of steps are numbered anew within it.
    void score(const Batch& batch, int64_t at, int64_t T) {
        const int64_t Y = n_labels_;
        const Csr& rows = batch.node.rows();
        node_.assign(T * Y, 0.0);
        for (int64_t t = 0; t < T; ++t) weights_.score(0, rows, at + t, rows.start[at + T], node_.data() + t * Y);
        kind_.assign(T, 0);
        kinds_.clear();
        for (int64_t t = 1; t < T; ++t) {
            int32_t& number = local_[batch.kind[at + t]];
            if (number < 0) {
                number = static_cast<int32_t>(kinds_.size());
                kinds_.push_back(batch.kind[at + t]);
            }
            kind_[t] = number;
        }
        pair_.assign(std::max<size_t>(kinds_.size(), 1) * Y * Y, 0.0);
        const Csr& pairs = batch.pair.rows();
        for (size_t k = 0; k < kinds_.size(); ++k)
            weights_.score(1, pairs, kinds_[k], pairs.start[kinds_[k] + 1], pair_.data() + k * Y * Y);
    }

    ChainShape shape(int64_t T, const int64_t* offsets) {
        piece_start_.assign({0});
        piece_kind_.clear();
        steps_.clear();
        for (size_t k = 0; k < kinds_.size(); ++k) {
            for (int64_t t = 1; t < T; ++t)
                if (kind_[t] == static_cast<int32_t>(k)) steps_.push_back(static_cast<int32_t>(t));
            piece_kind_.push_back(static_cast<int32_t>(k));
            piece_start_.push_back(static_cast<int64_t>(steps_.size()));
        }
        return {1, offsets, n_labels_, std::max<int64_t>(static_cast<int64_t>(kinds_.size()), 1), kind_.data(), nullptr,
                static_cast<int64_t>(piece_kind_.size()), piece_start_.data(), piece_kind_.data(), steps_.data()};
    }

    // log Z; leaves gold − marginals as differences.
    double marginals(const int32_t* gold, int64_t T, const int64_t* offsets) {
        constexpr double least = 1e-7;  // smaller marginals would only fill the memory with weights near zero
        const int64_t Y = n_labels_, S = padded(Y);
        const ChainShape chain = shape(T, offsets);
        pair_out_.resize(pair_.size());
        scratch_.resize(2 * T * S);
        double log_z;
        if (!kernels().chain_marginals(chain, {node_.data(), pair_.data()}, &log_z, {node_.data(), pair_out_.data()}, scratch_.data(),
                                       scratch_.data() + T * S, nullptr, 1))
            throw std::runtime_error("the weights have grown beyond what can be added up; use a smaller step");
        for (int64_t t = 0; t < T; ++t) {
            node_[t * Y + gold[t]] -= 1;
            if (t) pair_out_[(kind_[t] * Y + gold[t - 1]) * Y + gold[t]] -= 1;
        }
        for (int64_t j = 0; j < T * Y; ++j)
            if (std::abs(node_[j]) > least)
                differences_[0].push_back({row_of_token_ + static_cast<int32_t>(j / Y), static_cast<uint32_t>(j % Y), -node_[j]});
        for (size_t j = 0; j < kinds_.size() * Y * Y; ++j)
            if (std::abs(pair_out_[j]) > least)
                differences_[1].push_back({kinds_[j / (Y * Y)], static_cast<uint32_t>(j % (Y * Y)), -pair_out_[j]});
        return log_z;
    }

    // max_y s(y) + cost(y, gold); leaves gold − argmax as differences.
    double best(const int32_t* gold, int64_t T, const int64_t* offsets, double cost) {
        const int64_t Y = n_labels_;
        if (cost != 0)
            for (int64_t t = 0; t < T; ++t)
                for (int64_t y = 0; y < Y; ++y)
                    if (y != gold[t]) node_[t * Y + y] += cost;
        labels_.resize(T);
        double value;
        const ChainShape chain = shape(T, offsets);
        if (!kernels().chain_argmax(chain, {node_.data(), pair_.data()}, &value, labels_.data(), 1))
            throw std::runtime_error("the weights have grown beyond what can be added up; use a smaller step");
        for (int64_t t = 0; t < T; ++t) {
            const bool here = labels_[t] != gold[t], before = t && labels_[t - 1] != gold[t - 1];
            if (here) {
                differences_[0].push_back({row_of_token_ + static_cast<int32_t>(t), static_cast<uint32_t>(gold[t]), 1.0});
                differences_[0].push_back({row_of_token_ + static_cast<int32_t>(t), static_cast<uint32_t>(labels_[t]), -1.0});
            }
            if (t && (here || before)) {
                const int32_t kind = kinds_[kind_[t]];
                differences_[1].push_back({kind, static_cast<uint32_t>(gold[t - 1] * Y + gold[t]), 1.0});
                differences_[1].push_back({kind, static_cast<uint32_t>(labels_[t - 1] * Y + labels_[t]), -1.0});
            }
        }
        return value;
    }

    // body(attribute, by) for the attributes of a part that differs.
    template <class Body>
    static void spread(const Csr& rows, const Difference& d, double times, Body&& body) {
        for (int64_t i = rows.start[d.row]; i < rows.start[d.row + 1]; ++i)
            body(rows.index[i], times * d.value * (rows.value.empty() ? 1.0 : rows.value[i]));
    }

    // f(gold) − f(ŷ), of features that exist: an attribute that fires several times counts as often.
    void merge(const Batch& batch) {
        changes_.clear();
        for (int p = 0; p < 2; ++p) {
            const Csr& rows = (p ? batch.pair : batch.node).rows();
            for (const Difference& d : differences_[p]) spread(rows, d, 1.0, [&](int32_t a, double by) {
                changes_.push_back({p, a, d.column, by});
            });
        }
        const auto key = [](const Change& c) { return std::tuple(c.part, c.attribute, c.column); };
        std::sort(changes_.begin(), changes_.end(), [&](const Change& a, const Change& b) { return key(a) < key(b); });
        size_t kept = 0;
        for (size_t j = 0; j < changes_.size();) {
            Change sum = changes_[j];
            for (++j; j < changes_.size() && key(changes_[j]) == key(sum); ++j) sum.value += changes_[j].value;
            if (sum.value != 0 && weights_.part(sum.part).exists(sum.attribute, sum.column)) changes_[kept++] = sum;
        }
        changes_.resize(kept);
    }

    int32_t n_labels_;
    OnlineWeights weights_;
    std::vector<Batch> batches_;
    std::vector<int64_t> first_{0};  // the number of each batch's first sequence, and of all
    // One sequence at a time.
    std::vector<int32_t> local_;     // number of each kind of step within the sequence, −1
    std::vector<int32_t> kind_, kinds_, labels_, piece_kind_, steps_;
    std::vector<int64_t> piece_start_;
    std::vector<double> node_, pair_, pair_out_, scratch_;
    std::vector<Difference> differences_[2];
    std::vector<Change> changes_;
    int32_t row_of_token_ = 0;       // the row of the sequence's first token
};

}  // namespace parsimon
