#include "maps/linear_map.hpp"

#include <random>

#include "base/threads.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"

using namespace parsimon;

namespace {

using Matrix = std::vector<std::vector<double>>;

Csr random_rows(std::mt19937& random, int64_t n, int32_t n_attributes, bool valued, bool full = false) {
    Csr rows;
    rows.start.push_back(0);
    for (int64_t r = 0; r < n; ++r) {
        for (int32_t a = 0; a < n_attributes; ++a)
            if (full || random() % 3 == 0) {
                rows.index.push_back(a);
                if (valued) rows.value.push_back(static_cast<double>(random() % 7) - 3);
            }
        rows.start.push_back(static_cast<int64_t>(rows.index.size()));
    }
    return rows;
}

// Attributes with all columns, or with some: half of them on average, but of every third attribute only one in ten.
std::shared_ptr<FeatureRows> random_features(std::mt19937& random, int64_t n_attributes, int64_t width, bool all) {
    auto features = std::make_shared<FeatureRows>();
    features->n_attributes = n_attributes;
    features->width = width;
    features->all = all;
    if (all) return features;
    features->start.push_back(0);
    for (int64_t a = 0; a < n_attributes; ++a) {
        for (int32_t c = 0; c < width; ++c)
            if (random() % (a % 3 ? 2 : 10) == 0) features->column.push_back(c);
        features->start.push_back(static_cast<int64_t>(features->column.size()));
    }
    return features;
}

std::vector<double> random_vector(std::mt19937& random, int64_t n) {
    std::vector<double> v(n);
    for (double& x : v) x = std::uniform_real_distribution<double>(-1, 1)(random);
    return v;
}

// Φ written out: one row for every (row, column), one column for every feature.
Matrix dense(const LinearMap& map) {
    const Csr& rows = map.rows();
    const FeatureRows& f = map.features();
    Matrix out(rows.size() * f.width, std::vector<double>(f.size(), 0.0));
    for (int64_t r = 0; r < rows.size(); ++r)
        for (int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
            const int64_t a = rows.index[i];
            const int64_t first = f.all ? a * f.width : f.start[a], last = f.all ? first + f.width : f.start[a + 1];
            for (int64_t k = first; k < last; ++k)
                out[r * f.width + (f.all ? k - first : f.column[k])][k] += rows.value.empty() ? 1.0 : rows.value[i];
        }
    return out;
}

void check_products(const LinearMap& map, std::mt19937& random) {
    const Matrix phi = dense(map);
    const auto n = map.features().size(), m = static_cast<int64_t>(phi.size());
    const auto w = random_vector(random, n), mu = random_vector(random, m), before = random_vector(random, n);
    for (const Kernels* table : {&baseline_kernels(), &kernels()})
        for (int threads : {1, 2}) {
            std::vector<double> scores(m, 99.0), back = before, squares = before;
            table->scores(map, w.data(), scores.data(), threads);
            map.attributes();
            table->pullback(map, mu.data(), back.data(), false, threads);
            table->pullback(map, mu.data(), squares.data(), true, threads);
            for (int64_t i = 0; i < m; ++i) {
                double expected = 0;
                for (int64_t k = 0; k < n; ++k) expected += phi[i][k] * w[k];
                CHECK_NEAR(scores[i], expected, 1e-12);
            }
            for (int64_t k = 0; k < n; ++k) {
                double expected = before[k], squared = before[k];
                for (int64_t i = 0; i < m; ++i) {
                    expected += phi[i][k] * mu[i];
                    squared += phi[i][k] * phi[i][k] * mu[i];
                }
                CHECK_NEAR(back[k], expected, 1e-12);
                CHECK_NEAR(squares[k], squared, 1e-12);
            }
        }
}

}  // namespace

TEST("scores and pullback are the products with Φ and its transpose") {
    std::mt19937 random(5);
    for (const bool all : {true, false})
        for (const bool valued : {true, false})
            for (const int64_t width : {1, 2, 3, 4, 5, 8, 13, 16, 20, 24, 28, 31, 32, 35, 36, 50})
                for (const int64_t n_rows : {0, 1, 20})
                    check_products(
                        LinearMap(random_rows(random, n_rows, 9, valued), random_features(random, 9, width, all)),
                        random);
}

TEST("attributes that fire on every row are added up as plain vectors") {
    std::mt19937 random(8);
    for (const bool all : {true, false})
        for (const int64_t n_rows : {1, 15, 16, 17, 40}) {
            const LinearMap map(random_rows(random, n_rows, 9, true, true), random_features(random, 9, 1, all));
            check_products(map, random);
            for (int64_t a = 0; a < 9; ++a) CHECK(map.everywhere(a));
        }
    Csr twice = random_rows(random, 2, 1, true, true);  // one row has the attribute twice, the other not at all
    twice.start = {0, 2, 2};
    const LinearMap odd(twice, random_features(random, 1, 1, true));
    check_products(odd, random);
    CHECK(!odd.everywhere(0));
}

TEST("restricting keeps the columns of Φ that belong to the features") {
    std::mt19937 random(6);
    for (const bool all : {true, false})
        for (const bool valued : {true, false})
            for (const int share : {1, 2, 5, 1000}) {
                const LinearMap map(random_rows(random, 12, 8, valued), random_features(random, 8, 3, all));
                std::vector<int64_t> chosen;
                for (int64_t k = 0; k < map.features().size(); ++k)
                    if (random() % share == 0) chosen.push_back(k);
                const LinearMap part = map.restrict(chosen.data(), static_cast<int64_t>(chosen.size()));
                CHECK(part.features().size() == static_cast<int64_t>(chosen.size()));
                const Matrix whole = dense(map), some = dense(part);
                for (size_t i = 0; i < whole.size(); ++i)
                    for (size_t k = 0; k < chosen.size(); ++k) CHECK(some[i][k] == whole[i][chosen[k]]);
                check_products(part, random);
                if (chosen.size() > 1) {  // and once more, from the part
                    const std::vector<int64_t> last{static_cast<int64_t>(chosen.size()) - 1};
                    const Matrix one = dense(part.restrict(last.data(), 1));
                    for (size_t i = 0; i < whole.size(); ++i) CHECK(one[i][0] == whole[i][chosen.back()]);
                }
            }
}

TEST("features that do not ascend or are not there are refused") {
    std::mt19937 random(7);
    const LinearMap map(random_rows(random, 3, 4, false), random_features(random, 4, 2, true));
    for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{1, 1}, {2, 1}, {-1}, {8}})
        CAUGHT(std::invalid_argument, map.restrict(wrong.data(), static_cast<int64_t>(wrong.size())));
}

TEST("transposing twice gives the same rows back") {
    std::mt19937 random(9);
    for (const bool valued : {true, false}) {
        const Csr rows = random_rows(random, 30, 7, valued);
        const Csr columns = transpose(rows, 7);
        CHECK(columns.size() == 7 && columns.entries() == rows.entries());
        const Csr again = transpose(columns, 30);
        CHECK(again.start == rows.start && again.index == rows.index && again.value == rows.value);
    }
}

TEST("distinct rows are all different and stand for every row") {
    std::mt19937 random(10);
    for (const bool valued : {true, false}) {
        const Csr rows = random_rows(random, 500, valued ? 3 : 8, valued);
        const auto [distinct, which] = distinct_rows(rows);
        auto row = [](const Csr& csr, int64_t r) {
            std::vector<double> out(csr.index.begin() + csr.start[r], csr.index.begin() + csr.start[r + 1]);
            if (!csr.value.empty())
                out.insert(out.end(), csr.value.begin() + csr.start[r], csr.value.begin() + csr.start[r + 1]);
            return out;
        };
        CHECK(distinct.size() < rows.size() && static_cast<int64_t>(which.size()) == rows.size());
        for (int64_t r = 0; r < rows.size(); ++r) CHECK(row(rows, r) == row(distinct, which[r]));
        for (int64_t d = 0; d < distinct.size(); ++d)
            for (int64_t e = 0; e < d; ++e) CHECK(row(distinct, d) != row(distinct, e));
    }
    CHECK(distinct_rows(Csr{{0}, {}, {}}).first.size() == 0);
}

TEST("threads take every item once, and hand exceptions on") {
    for (const int threads : {0, 1, 2, 5}) {
        std::vector<int> taken(100, 0);
        parallel_for(100, threads, [&](int64_t i, int worker) {
            CHECK(worker >= 0 && worker < std::max(threads, 1));
            ++taken[i];
        });
        for (const int times : taken) CHECK(times == 1);
        CAUGHT(std::out_of_range, parallel_for(100, threads, [](int64_t i, int) {
                   if (i == 50) throw std::out_of_range("fifty");
               }));
        parallel_for(0, threads, [](int64_t, int) { throw std::logic_error("there is nothing to do"); });
    }
}

TEST("cuts ascend from the first item to the last, in about equal shares") {
    std::vector<int64_t> cumulative{5};
    for (int i = 0; i < 100; ++i) cumulative.push_back(cumulative.back() + i % 10);
    for (const int64_t pieces : {1, 2, 7, 100, 1000}) {
        const auto cuts = balanced_cuts(cumulative.data(), 100, pieces);
        CHECK(cuts.front() == 0 && cuts.back() == 100
              && static_cast<int64_t>(cuts.size()) <= std::min<int64_t>(pieces, 100) + 1);
        for (size_t i = 0; i + 1 < cuts.size(); ++i) {
            CHECK(cuts[i] < cuts[i + 1]);
            CHECK(cumulative[cuts[i + 1]] - cumulative[cuts[i]] <= 450 / pieces + 20);
        }
    }
    CHECK(balanced_cuts(cumulative.data(), 0, 4).size() == 1);
    const std::vector<int64_t> nothing(11, 0);  // ten items that cost nothing
    CHECK(balanced_cuts(nothing.data(), 10, 4).back() == 10);
}
