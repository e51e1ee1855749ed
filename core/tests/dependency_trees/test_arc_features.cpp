#include <random>

#include "dependency_trees/arc_features.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

// Three columns: two with one value a token, one with none to three.
ArcSentences random_sentences(std::mt19937& random, const std::vector<int64_t>& lengths) {
    std::vector<int64_t> offsets{0};
    for (const int64_t n : lengths) offsets.push_back(offsets.back() + n);
    std::vector<ArcColumn> columns(3);
    for (int c = 0; c < 2; ++c)
        for (int64_t k = 0; k < offsets.back(); ++k)
            columns[c].value.push_back(3 + static_cast<int32_t>(random() % (c ? 9 : 3)));
    columns[2].start.push_back(0);
    for (int64_t k = 0; k < offsets.back(); ++k) {
        for (int32_t v = 0; v < 3; ++v)
            if (random() % 2) columns[2].value.push_back(20 + v);
        columns[2].start.push_back(static_cast<int64_t>(columns[2].value.size()));
    }
    return {offsets, columns};
}

std::vector<ArcTemplate> some_templates() {
    std::vector<ArcTemplate> out;
    for (const bool direction : {false, true})
        for (const bool length : {false, true}) {
            out.push_back({{{{0, 0}}, {{0, 1}}}, -1, direction, length});
            out.push_back({{{{0, 0}, {1, 0}}, {}}, -1, direction, length});
            out.push_back({{{}, {{-2, 1}}}, -1, direction, length});
            out.push_back({{{{0, 2}}, {{0, 2}}}, -1, direction, length});
            out.push_back({{{}, {{0, 2}}}, 0, direction, length});
            out.push_back({{{{0, 0}}, {{0, 0}}}, 2, direction, length});
            out.push_back({{{}, {}}, 1, direction, length});
            out.push_back({{{}, {}}, -1, direction, length});
        }
    return out;
}

}  // namespace

TEST("a table finds what is in it, and nothing else") {
    std::mt19937_64 random(3);
    for (const int64_t n : {1, 5, 100, 3000}) {
        AttributeTable table(n, 70);
        std::vector<uint64_t> keys;
        for (int64_t k = 0; k < n; ++k) {
            keys.push_back(k == 0 ? 0 : random());
            table.add(keys.back());
        }
        CHECK(table.size() == n);
        for (int64_t k = 0; k < n; ++k) {
            CHECK(table.maybe(keys[k]));
            CHECK(table.find(keys[k]) == 70 + k);
        }
        for (int k = 0; k < 1000; ++k) CHECK(table.find(random()) == -1);
        int64_t seen = 0;
        table.each([&](uint64_t key, int32_t number) {
            CHECK(keys[number - 70] == key);
            ++seen;
        });
        CHECK(seen == n);
    }
}

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
