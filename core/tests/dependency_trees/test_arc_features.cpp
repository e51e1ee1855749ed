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
