#include <algorithm>
#include <random>
#include <vector>

#include "dependency_trees/arc_features.hpp"
#include "dependency_trees/arc_scorer.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/random_sentences.hpp"

using namespace parsimon;
using namespace check;

namespace {

// Every sentence's last token hangs on the root, and others on a token behind them.
std::vector<int32_t> random_heads(std::mt19937& random, const ArcSentences& sentences) {
    std::vector<int32_t> heads;
    for (int64_t i = 0; i < sentences.size(); ++i)
        for (int32_t n = sentences.length(i), m = 1; m <= n; ++m)
            heads.push_back(m == n ? 0 : static_cast<int32_t>(m + 1 + random() % (n - m)));
    return heads;
}

// The attributes of half of what fires on some trees, with weights whose sums are exact, and the scorer of them.
struct Learnt {
    ArcDictionary dictionary;
    std::vector<double> w;
    ArcScorer scorer;

    static Learnt of(std::mt19937& random, const std::vector<ArcTemplate>& templates, const ArcSentences& sentences,
                     const std::vector<bool>& many) {
        const auto heads = random_heads(random, sentences);
        const ArcDictionary all = ArcDictionary::supported(templates, sentences, heads.data(), 1, 1);
        std::vector<int64_t> some, counts;
        for (int64_t a = 0; a < all.size(); ++a)
            if (random() % 2) some.push_back(a);
        ArcDictionary half = all.restricted(some.data(), static_cast<int64_t>(some.size()));
        std::vector<int32_t> values;
        CHECK(half.values(sentences, heads.data(), values, 1));
        for (int32_t t = 0; t < half.n_templates(); ++t) counts.push_back(half.first()[t + 1] - half.first()[t]);
        std::vector<double> w(half.size());
        for (double& x : w) x = static_cast<double>(random() % 1000) / 8 - 60;
        ArcScorer scorer(templates, counts.data(), values.data(), w.data(), many, 2);
        return {std::move(half), std::move(w), std::move(scorer)};
    }
};

void check_scores(const Learnt& learnt, const ArcSentences& sentences) {
    std::vector<double> expected(sentences.arcs().back()), found(expected.size());
    arc_scores(learnt.dictionary, sentences, 0, sentences.size(), learnt.w.data(), expected.data(), 1);
    for (const int threads : {1, 3}) {
        std::fill(found.begin(), found.end(), 7.0);
        learnt.scorer.scores(sentences, 0, sentences.size(), found.data(), threads);
        CHECK(found == expected);
    }
}

// Some heads of every token; of some tokens none.
ArcSentences some_arcs(std::mt19937& random, const ArcSentences& all) {
    std::vector<int64_t> start{0};
    std::vector<int32_t> heads;
    for (int64_t i = 0; i < all.size(); ++i)
        for (int32_t m = 1; m <= all.length(i); ++m) {
            for (int32_t h = 0; h <= all.length(i); ++h)
                if (h != m && random() % 3 == 0) heads.push_back(h);
            start.push_back(static_cast<int64_t>(heads.size()));
        }
    return all.only(start, heads);
}

}  // namespace

TEST("a scorer gives arcs the scores that their attributes add up to") {
    std::mt19937 random(5);
    const std::vector<int64_t> lengths{4, 1, 0, 30, 7, 12, 25};
    const ArcSentences sentences = random_sentences(random, lengths), others = random_sentences(random, lengths);
    for (const bool many : {false, true}) {  // whether it knows that a column has many values changes nothing
        const Learnt learnt = Learnt::of(random, some_templates(), sentences, {false, false, many});
        CHECK(learnt.dictionary.size() > 300);
        check_scores(learnt, sentences);
        check_scores(learnt, others);
        check_scores(learnt, some_arcs(random, others));
    }
}

TEST("a scorer takes columns with more values than a set may have") {
    std::mt19937 random(6);
    const std::vector<int64_t> offsets{0, 40, 41, 90};
    std::vector<ArcColumn> columns(2);
    columns[1].start.push_back(0);
    for (int k = 0; k < 90; ++k) {
        columns[0].value.push_back(3 + static_cast<int32_t>(random() % 80));
        for (int32_t v = 0; v < 100; ++v)
            if (random() % 40 == 0) columns[1].value.push_back(3 + v);
        columns[1].start.push_back(static_cast<int64_t>(columns[1].value.size()));
    }
    const ArcSentences sentences(offsets, columns);
    std::vector<ArcTemplate> templates;
    for (const bool direction : {false, true})
        for (const bool length : {false, true})
            for (const int32_t between : {-1, 0, 1}) {
                templates.push_back({{{}, {}}, between, direction, length});
                templates.push_back({{{{0, 0}}, {{1, 1}}}, between, direction, length});
                templates.push_back({{{{0, 1}, {-1, 1}}, {}}, between, direction, length});
            }
    const Learnt learnt = Learnt::of(random, templates, sentences, {false, true});
    check_scores(learnt, sentences);
    check_scores(learnt, some_arcs(random, sentences));
}

TEST("a scorer without attributes scores nothing") {
    std::mt19937 random(7);
    const ArcSentences sentences = random_sentences(random, {3, 2});
    const std::vector<int64_t> counts(some_templates().size(), 0);
    const ArcScorer scorer(some_templates(), counts.data(), nullptr, nullptr, {false, false, true}, 1);
    std::vector<double> found(sentences.arcs().back(), 7.0);
    scorer.scores(sentences, 0, 2, found.data(), 1);
    CHECK(found == std::vector<double>(found.size(), 0.0));
}
