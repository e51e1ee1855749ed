#include <memory>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"
#include "maps/linear_map.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;
using namespace check;

namespace {

using Matrix = std::vector<std::vector<double>>;

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

// A map of columns without gaps.
LinearMap random_columns(std::mt19937& random, int64_t n_rows, int64_t n_columns) {
    auto values = std::make_shared<std::vector<double>>(random_vector(random, n_rows * n_columns));
    return LinearMap(DenseColumns{n_rows, n_columns, std::shared_ptr<const double>(values, values->data())});
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

TEST("columns without gaps have the products, parts and rows that sparse ones have") {
    std::mt19937 random(9);
    for (const int64_t n_rows : {0, 1, 7, 8, 21})
        for (const int64_t n_columns : {1, 3, 4, 9, 70}) {
            const LinearMap map = random_columns(random, n_rows, n_columns);
            CHECK(map.dense() && map.n_rows() == n_rows && map.n_entries() == n_rows * n_columns);
            check_products(map, random);
            std::vector<int64_t> chosen, later;
            for (int64_t k = 0; k < n_columns; k += 2) chosen.push_back(k);
            for (int64_t r = 0; r < n_rows; r += 3) later.insert(later.begin(), r);
            const LinearMap part = map.restrict(chosen.data(), static_cast<int64_t>(chosen.size())),
                            some = map.take(later.data(), static_cast<int64_t>(later.size()));
            check_products(part, random);
            const Matrix whole = dense(map), fewer = dense(part), taken = dense(some);
            for (int64_t r = 0; r < n_rows; ++r) {
                for (int64_t k = 0; k < n_columns; ++k) CHECK(whole[r][k] == map.dense()->column(k)[r]);
                for (size_t k = 0; k < chosen.size(); ++k) CHECK(fewer[r][k] == whole[r][chosen[k]]);
            }
            for (size_t i = 0; i < later.size(); ++i) CHECK(taken[i] == whole[later[i]]);
        }
}

TEST("features that do not ascend or are not there are refused") {
    std::mt19937 random(7);
    const LinearMap map(random_rows(random, 3, 4, false), random_features(random, 4, 2, true)),
        full = random_columns(random, 3, 8);
    for (const LinearMap& each : {map, full})
        for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{1, 1}, {2, 1}, {-1}, {8}})
            CAUGHT(std::invalid_argument, each.restrict(wrong.data(), static_cast<int64_t>(wrong.size())));
}

void check_threads(const LinearMap& map, std::mt19937& random) {
    std::vector<int64_t> chosen;
    for (int64_t k = 0; k < map.features().size(); k += 2) chosen.push_back(k);
    const int64_t n_scores = map.n_rows() * map.features().width;
    const auto w = random_vector(random, map.features().size()), mu = random_vector(random, n_scores);
    std::vector<double> scores[2], back[2], restricted[2];
    for (const int threads : {1, 4}) {
        const int at = threads > 1;
        scores[at].resize(n_scores);
        restricted[at].resize(n_scores);
        back[at].resize(map.features().size());
        kernels().scores(map, w.data(), scores[at].data(), threads);
        map.attributes();
        kernels().pullback(map, mu.data(), back[at].data(), false, threads);
        const LinearMap part = map.restrict(chosen.data(), static_cast<int64_t>(chosen.size()), threads);
        kernels().scores(part, w.data(), restricted[at].data(), threads);
    }
    CHECK(scores[0] == scores[1] && back[0] == back[1] && restricted[0] == restricted[1]);
}

TEST("maps of many rows, and those of some of their features, are the same for any number of threads") {
    std::mt19937 random(8);
    for (const bool all : {true, false})
        check_threads(LinearMap(random_rows(random, 9000, 7, true), random_features(random, 7, 5, all), 3), random);
    check_threads(random_columns(random, 9001, 131), random);
}
