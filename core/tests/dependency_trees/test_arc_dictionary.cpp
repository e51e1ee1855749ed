#include <random>
#include <vector>

#include "dependency_trees/arc_dictionary.hpp"
#include "tests/check.hpp"
#include "tests/dependency_trees/random_sentences.hpp"

using namespace parsimon;
using namespace check;

TEST("a dictionary can be made of the values of its attributes, and of some of them") {
    std::mt19937 random(6);
    const std::vector<int64_t> lengths{6, 9};
    const ArcSentences sentences = random_sentences(random, lengths);
    const std::vector<int32_t> heads{0, 1, 2, 3, 4, 5, 3, 3, 0, 3, 4, 5, 6, 7, 8};
    const ArcDictionary dictionary = ArcDictionary::supported(some_templates(), sentences, heads.data(), 1, 1);
    std::vector<int32_t> values;
    CHECK(dictionary.values(sentences, heads.data(), values, 2));
    std::vector<int64_t> counts, odd;
    for (int32_t t = 0; t < dictionary.n_templates(); ++t)
        counts.push_back(dictionary.first()[t + 1] - dictionary.first()[t]);
    const ArcDictionary again = ArcDictionary::of_values(some_templates(), counts.data(), values.data());
    CHECK(again.first() == dictionary.first());
    for (int64_t a = 1; a < dictionary.size(); a += 2) odd.push_back(a);
    const ArcDictionary half = dictionary.restricted(odd.data(), static_cast<int64_t>(odd.size()));
    CHECK(half.size() == static_cast<int64_t>(odd.size()));
    std::vector<int32_t> one, two, three;
    for (int32_t h = 0; h <= 9; ++h) {
        if (h == 4) continue;
        one.clear();
        two.clear();
        three.clear();
        dictionary.attributes(sentences, 1, h, 4, one);
        again.attributes(sentences, 1, h, 4, two);
        half.attributes(sentences, 1, h, 4, three);
        CHECK(one == two);
        std::vector<int32_t> kept;
        for (const int32_t a : one)
            if (a % 2) kept.push_back(a / 2);
        CHECK(kept == three);
    }
    CHECK(!dictionary.values(sentences, std::vector<int32_t>(15, 0).data(), values, 1));
}
