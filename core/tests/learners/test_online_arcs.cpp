// Rounds of learning from sentences with trees, next to a plain vector of weights and the enumeration of all trees.
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "learners/online_arcs.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/all_trees.hpp"
#include "tests/dependency_trees/random_sentences.hpp"
#include "tests/learners/weights_as_map.hpp"

using namespace parsimon;
using namespace check;

namespace {

struct Treebank {
    std::shared_ptr<const ArcSentences> sentences;
    std::shared_ptr<const ArcDictionary> dictionary;
    TreeKind kind;
    std::vector<int32_t> gold;
    std::vector<double> weight{1.0, 0.5, 2.0, 1.0, 0.0, 1.5};
    std::vector<int64_t> order;

    Treebank(TreeKind kind, unsigned seed) : kind(kind) {
        std::mt19937 random(seed);
        const std::vector<int64_t> lengths{4, 3, 1, 0, 2, 3};
        sentences = std::make_shared<ArcSentences>(random_sentences(random, lengths));
        for (const int64_t n : lengths) {
            std::vector<std::vector<int32_t>> trees;
            if (n) each_tree(static_cast<int32_t>(n), kind, [&](const auto& head) { trees.push_back(head); });
            if (n) {
                const auto& chosen = trees[random() % trees.size()];
                gold.insert(gold.end(), chosen.begin(), chosen.end());
            }
        }
        dictionary =
            std::make_shared<ArcDictionary>(ArcDictionary::supported(some_templates(), *sentences, gold.data(), 1, 1));
        for (int pass = 0; pass < 4; ++pass)
            for (int64_t i = 0; i < sentences->size(); ++i) order.push_back(i);
        std::shuffle(order.begin(), order.end(), random);
    }

    // f of a tree: how often each attribute fires.
    std::map<int32_t, double> features(int64_t i, const int32_t* head) const {
        std::map<int32_t, double> out;
        std::vector<int32_t> fired;
        for (int32_t m = 1; m <= sentences->length(i); ++m)
            dictionary->attributes(*sentences, i, head[m - 1], m, fired);
        for (const int32_t a : fired) out[a] += 1;
        return out;
    }

    OnlineArcs learner(const std::vector<int32_t>& block, int64_t n_blocks) const {
        static const std::vector<int32_t> nothing;
        OnlineArcs out(ArcInstances(dictionary, kind),
                       OnlineWeights(all_columns(dictionary->size(), 1), all_columns(0, 1), block.data(),
                                     nothing.data(), n_blocks));
        // Two batches, so that sentences have to be found.
        const int64_t cut = 2, tokens = sentences->offsets()[cut];
        out.add({sentences, 0, cut, {gold.begin(), gold.begin() + tokens}, {weight.begin(), weight.begin() + cut}});
        out.add({sentences,
                 cut,
                 sentences->size(),
                 {gold.begin() + tokens, gold.end()},
                 {weight.begin() + cut, weight.end()}});
        return out;
    }
};

// The same rounds, as the papers have them.
struct Plain {
    const Treebank& bank;
    std::vector<double> w;
    double loss = 0;
    int64_t mistakes = 0;

    explicit Plain(const Treebank& treebank) : bank(treebank), w(treebank.dictionary->size(), 0.0) {}

    double score(const std::map<int32_t, double>& f) const {
        double sum = 0;
        for (const auto& [a, n] : f) sum += n * w[a];
        return sum;
    }

    void round(int64_t i, Oracle oracle, double cost, StepSize step) {
        const int32_t n = bank.sentences->length(i);
        const double weight = bank.weight[i];
        if (n == 0 || weight == 0) return;
        const int32_t* gold = bank.gold.data() + bank.sentences->offsets()[i];
        std::map<int32_t, double> change = bank.features(i, gold);
        const double attained = score(change);
        double best = no_tree, high = no_tree, z = 0;
        std::vector<int32_t> found;
        each_tree(n, bank.kind, [&](const std::vector<int32_t>& head) {
            double value = score(bank.features(i, head.data()));
            high = std::max(high, value);
            for (int32_t m = 0; m < n && oracle == Oracle::cost_argmax; ++m) value += cost * (head[m] != gold[m]);
            if (value > best) best = value, found = head;
        });
        if (oracle == Oracle::marginals) {
            each_tree(n, bank.kind,
                      [&](const auto& head) { z += std::exp(score(bank.features(i, head.data())) - high); });
            std::map<int32_t, double> expected;
            each_tree(n, bank.kind, [&](const auto& head) {
                const auto f = bank.features(i, head.data());
                const double p = std::exp(score(f) - high) / z;
                for (const auto& [a, times] : f) expected[a] += p * times;
            });
            for (const auto& [a, times] : expected) change[a] -= times;
            loss += weight * (high + std::log(z) - attained);
            for (const auto& [a, times] : change) w[a] += step.size * weight * times;
            return;
        }
        if (std::equal(found.begin(), found.end(), gold)) return;
        ++mistakes;
        loss += weight * (best - attained);
        for (const auto& [a, times] : bank.features(i, found.data())) change[a] -= times;
        double size = step.size;
        if (step.passive_aggressive) {
            double norm = 0;
            for (const auto& [a, times] : change) norm += times * times;
            size = norm > 0 ? std::min(step.size, (best - attained) / norm) : 0.0;
        }
        for (const auto& [a, times] : change) w[a] += size * weight * times;
    }
};

// Weights to begin with, so that no two trees score the same and there is one answer to each question.
void start(OnlineArcs& learner, Plain& plain) {
    std::mt19937 random(17);
    std::normal_distribution<double> number(0, 0.5);
    std::vector<int64_t> features;
    for (int64_t a = 0; a < static_cast<int64_t>(plain.w.size()); ++a) {
        features.push_back(a);
        plain.w[a] = number(random);
    }
    learner.start(features.data(), plain.w.data(), static_cast<int64_t>(features.size()));
}

void check_weights(OnlineArcs& learner, const Plain& plain, double tolerance) {
    auto found = as_map(learner.weights());
    for (size_t a = 0; a < plain.w.size(); ++a) {
        const auto feature = static_cast<int64_t>(a);
        CHECK_NEAR(found.count(feature) ? found.at(feature) : 0.0, plain.w[a], tolerance);
    }
}

}  // namespace

TEST("learning from trees is that of the papers, whatever blocks there are and whoever is asked") {
    for (const TreeKind kind : kinds)
        for (const auto& [oracle, step] : {std::pair{Oracle::argmax, StepSize{false, 0.3}},
                                           {Oracle::cost_argmax, StepSize{true, 0.2}},
                                           {Oracle::marginals, StepSize{false, 0.4}}})
            for (const bool by_template : {true, false}) {
                const Treebank bank(kind, 3);
                // A block for every template; or templates that are in two blocks each, which are read one by one.
                std::vector<int32_t> block(bank.dictionary->size());
                for (int32_t t = 0; t < bank.dictionary->n_templates(); ++t)
                    for (int64_t a = bank.dictionary->first()[t]; a < bank.dictionary->first()[t + 1]; ++a)
                        block[a] = by_template ? t : static_cast<int32_t>(a % 2);
                OnlineArcs learner = bank.learner(block, bank.dictionary->n_templates());
                Plain plain(bank);
                start(learner, plain);
                const OnlineReport report =
                    learner.run(bank.order.data(), static_cast<int64_t>(bank.order.size()), oracle, 0.7, step);
                for (const int64_t i : bank.order) plain.round(i, oracle, 0.7, step);
                // Differences below 1e-7 are left out.
                const double tolerance = oracle == Oracle::marginals ? 1e-5 : 1e-9;
                CHECK_NEAR(report.loss, plain.loss, tolerance);
                CHECK(plain.loss > 0 && (oracle == Oracle::marginals || report.mistakes == plain.mistakes));
                check_weights(learner, plain, tolerance);
            }
}

TEST("dropped and pulled blocks are seen when trees are scored") {
    const Treebank bank({false, true}, 4);
    const int32_t n_blocks = bank.dictionary->n_templates();
    std::vector<int32_t> block(bank.dictionary->size());
    for (int32_t t = 0; t < n_blocks; ++t)
        for (int64_t a = bank.dictionary->first()[t]; a < bank.dictionary->first()[t + 1]; ++a) block[a] = t;
    OnlineArcs learner = bank.learner(block, n_blocks);
    Plain plain(bank);
    start(learner, plain);
    const StepSize step{false, 0.3};
    std::vector<double> factor(n_blocks);
    const std::vector<char> every(n_blocks, 1);
    for (int part = 0; part < 3; ++part) {
        learner.run(bank.order.data(), 12, Oracle::marginals, 0.0, step);
        for (int64_t k = 0; k < 12; ++k) plain.round(bank.order[k], Oracle::marginals, 0.0, step);
        for (int32_t b = 0; b < n_blocks; ++b) factor[b] = b % 5 == part ? 0.0 : 0.8;
        learner.weights().scale(factor.data());
        for (size_t a = 0; a < plain.w.size(); ++a) plain.w[a] *= factor[block[a]];
        if (part == 0) continue;
        learner.weights().pull_entries(0.02, every.data());
        for (double& x : plain.w) x = std::copysign(std::max(std::abs(x) - 0.02, 0.0), x);
    }
    check_weights(learner, plain, 1e-5);
}
