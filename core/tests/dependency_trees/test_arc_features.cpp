#include <algorithm>
#include <random>
#include <vector>

#include "dependency_trees/arc_features.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/random_sentences.hpp"

using namespace parsimon;
using namespace check;

TEST("all arcs at once have the attributes that they have one by one, for any number of threads") {
    std::mt19937 random(5);
    const std::vector<int64_t> lengths{4, 1, 0, 30, 7, 12};
    const ArcSentences sentences = random_sentences(random, lengths);
    std::vector<int32_t> heads;
    for (const int64_t n : lengths)
        for (int64_t m = 1; m <= n; ++m) heads.push_back(static_cast<int32_t>(m == n ? 0 : m + 1 + random() % (n - m)));
    const ArcDictionary dictionary = ArcDictionary::supported(some_templates(), sentences, heads.data(), 1, 2);
    CHECK(dictionary.size() > 500);
    std::vector<double> w(dictionary.size());
    for (double& x : w) x = static_cast<double>(random() % 1000) / 8;  // sums are exact
    const int64_t n_arcs = sentences.arcs().back();
    std::vector<double> expected(n_arcs, 0.0), parts(n_arcs), gradient(dictionary.size(), 0.0);
    for (double& x : parts) x = static_cast<double>(random() % 64) / 4;
    std::vector<int32_t> fired;
    for (int64_t i = 0; i < sentences.size(); ++i)
        for (int32_t m = 1; m <= sentences.length(i); ++m)
            for (int32_t h = 0; h <= sentences.length(i); ++h) {
                if (h == m) continue;
                fired.clear();
                dictionary.attributes(sentences, i, h, m, fired);
                const int64_t at = sentences.arcs()[i] + arc_at(sentences.length(i), h, m);
                for (const int32_t a : fired) {
                    expected[at] += w[a];
                    gradient[a] += parts[at];
                }
            }
    for (const int threads : {1, 3}) {
        std::vector<double> scores(n_arcs, 7.0), out(dictionary.size(), 0.0);
        arc_scores(dictionary, sentences, 0, sentences.size(), w.data(), scores.data(), threads);
        arc_pullback(dictionary, sentences, 0, sentences.size(), parts.data(), out.data(), threads);
        for (int64_t k = 0; k < n_arcs; ++k) CHECK(scores[k] == expected[k]);
        for (int64_t a = 0; a < dictionary.size(); ++a) CHECK(out[a] == gradient[a]);
    }
}

TEST("arcs that are left have the scores and gradients that they have among all, others none") {
    std::mt19937 random(6);
    const std::vector<int64_t> lengths{4, 1, 0, 30, 7, 12};
    const ArcSentences all = random_sentences(random, lengths);
    std::vector<int32_t> gold, heads;
    std::vector<int64_t> start{0};
    for (const int64_t n : lengths)
        for (int32_t m = 1; m <= n; ++m) {
            gold.push_back(m == n ? 0 : static_cast<int32_t>(m + 1 + random() % (n - m)));
            for (int32_t h = 0; h <= n; ++h)
                if (h != m && random() % 3 == 0) heads.push_back(h);
            start.push_back(static_cast<int64_t>(heads.size()));
        }
    const ArcDictionary dictionary = ArcDictionary::supported(some_templates(), all, gold.data(), 1, 1);
    const ArcSentences some = all.only(start, heads);
    std::vector<double> w(dictionary.size()), parts(all.arcs().back()), left(parts.size(), 0.0);
    for (double& x : w) x = static_cast<double>(random() % 1000) / 8;
    for (double& x : parts) x = static_cast<double>(random() % 64) / 4;
    std::vector<double> expected(parts.size()), scores(parts.size(), 7.0);
    arc_scores(dictionary, all, 0, all.size(), w.data(), expected.data(), 1);
    arc_scores(dictionary, some, 0, all.size(), w.data(), scores.data(), 2);
    int64_t token = 0;
    for (int64_t i = 0; i < all.size(); ++i)
        for (int32_t m = 1; m <= all.length(i); ++m, ++token)
            for (int32_t h = 0; h <= all.length(i); ++h) {
                if (h == m) continue;
                const int64_t at = all.arcs()[i] + arc_at(all.length(i), h, m);
                const auto kept = some.heads(token);
                const bool is_left = std::find(kept.begin(), kept.end(), h) != kept.end();
                CHECK(scores[at] == (is_left ? expected[at] : no_tree));
                if (is_left) left[at] = parts[at];
            }
    std::vector<double> gradient(dictionary.size(), 0.0), out(dictionary.size(), 0.0);
    arc_pullback(dictionary, all, 0, all.size(), left.data(), gradient.data(), 1);
    arc_pullback(dictionary, some, 0, all.size(), parts.data(), out.data(), 2);
    for (int64_t a = 0; a < dictionary.size(); ++a) CHECK(out[a] == gradient[a]);
}

TEST("the arcs of trees have the attributes that they have one by one") {
    std::mt19937 random(7);
    const std::vector<int64_t> lengths{3, 9, 0, 1, 20};
    const ArcSentences sentences = random_sentences(random, lengths);
    std::vector<int32_t> heads;
    for (const int64_t n : lengths)
        for (int32_t m = 1; m <= n; ++m) {
            const auto h = static_cast<int32_t>(random() % (n + 2)) - 1;
            heads.push_back(h == m ? 0 : h);
        }
    const ArcDictionary dictionary = ArcDictionary::supported(some_templates(), sentences, heads.data(), 1, 1);
    for (const int threads : {1, 3}) {
        const auto [start, index] = arc_attributes(dictionary, sentences, 1, 5, heads.data() + 3, threads);
        CHECK(start.size() == 31);
        std::vector<int32_t> expected;
        for (int64_t i = 1, token = 3; i < 5; ++i)
            for (int32_t m = 1; m <= sentences.length(i); ++m, ++token) {
                expected.clear();
                if (heads[token] >= 0) dictionary.attributes(sentences, i, heads[token], m, expected);
                std::sort(expected.begin(), expected.end());
                std::vector<int32_t> found(index.begin() + start[token - 3], index.begin() + start[token - 2]);
                std::sort(found.begin(), found.end());
                CHECK(found == expected);
            }
    }
}
