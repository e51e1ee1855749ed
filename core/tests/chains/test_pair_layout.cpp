// Whatever goes into matrices and whatever stays single, every pair of labels has the score that it should have.
#include <memory>
#include <random>
#include <vector>

#include "chains/pair_layout.hpp"
#include "kernels/kernels.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;
using namespace check;

namespace {

constexpr int32_t n_labels = 3;
constexpr int64_t n_pairs = n_labels * n_labels;

// Attributes of steps with some of the pairs of labels each; the first fires everywhere and has them all.
struct Steps {
    std::shared_ptr<FeatureRows> features = std::make_shared<FeatureRows>();
    Csr rows;                  // distinct
    std::vector<int32_t> row;  // of each token
    std::vector<double> w;

    Steps(bool valued, bool all, unsigned seed) {
        std::mt19937 random(seed);
        const int32_t n_attributes = 12;
        features->width = n_pairs;
        features->n_attributes = n_attributes;
        features->all = all;
        features->start.push_back(0);
        for (int32_t a = 0; a < n_attributes && !all; ++a) {
            for (int32_t c = 0; c < n_pairs; ++c)
                if (a == 0 || random() % 4 == 0) features->column.push_back(c);
            features->start.push_back(static_cast<int64_t>(features->column.size()));
        }
        // Some rows come several times, and one has no attribute.
        Csr given = random_rows(random, 14, n_attributes, valued);
        given.start.push_back(given.start.back());
        rows.start.push_back(0);
        for (int64_t r = 0; r < given.size(); ++r) {
            if (r + 1 < given.size()) add(0, valued ? 1.5 : 1.0, valued);
            for (int64_t i = given.start[r]; i < given.start[r + 1]; ++i)
                if (given.index[i] != 0) add(given.index[i], valued ? given.value[i] : 1.0, valued);
            rows.start.push_back(static_cast<int64_t>(rows.index.size()));
        }
        for (int64_t t = 0; t < 200; ++t)
            row.push_back(static_cast<int32_t>(random() % 3 ? random() % 2 : random() % rows.size()));
        for (int64_t k = 0; k < features->size(); ++k) w.push_back(std::normal_distribution<double>()(random));
    }

    void add(int32_t attribute, double value, bool valued) {
        rows.index.push_back(attribute);
        if (valued) rows.value.push_back(value);
    }

    double score(int64_t t, int64_t column) const {
        double sum = 0;
        for (int64_t i = rows.start[row[t]]; i < rows.start[row[t] + 1]; ++i)
            if (const int64_t k = features->feature(rows.index[i], column); k >= 0)
                sum += (rows.value.empty() ? 1.0 : rows.value[i]) * w[k];
        return sum;
    }
};

void check_layout(const Steps& steps, const PairLayout& layout) {
    std::vector<double> matrices(layout.matrices.rows().size() * n_pairs), singles(layout.single.size());
    kernels().scores(layout.matrices, steps.w.data(), matrices.data(), 2);
    kernels().scores(layout.sums, steps.w.data(), singles.data(), 2);
    CHECK(layout.sums.rows().size() == static_cast<int64_t>(layout.single.size()));
    CHECK(layout.single_start.size() == layout.row_kind.size() + 1);
    CHECK(layout.single_start.back() == static_cast<int64_t>(layout.single.size()));
    for (size_t r = 0; r < layout.row_kind.size(); ++r) {
        CHECK(layout.single_start[r + 1] > layout.single_start[r]);
        for (int64_t e = layout.single_start[r] + 1; e < layout.single_start[r + 1]; ++e)
            CHECK(layout.single[e] > layout.single[e - 1]);
    }
    for (size_t t = 0; t < steps.row.size(); ++t) {
        std::vector<double> score(n_pairs, 0.0);
        if (const int32_t kind = layout.kind[t]; kind >= 0)
            for (int64_t c = 0; c < n_pairs; ++c) score[c] += matrices[kind * n_pairs + c];
        if (const int32_t r = layout.row[t]; r >= 0) {
            CHECK(layout.row_kind[r] == layout.kind[t]);
            for (int64_t e = layout.single_start[r]; e < layout.single_start[r + 1]; ++e)
                score[first_of(layout.single[e]) * n_labels + second_of(layout.single[e])] += singles[e];
        }
        for (int64_t c = 0; c < n_pairs; ++c) CHECK_NEAR(score[c], steps.score(static_cast<int64_t>(t), c), 1e-12);
    }
}

}  // namespace

TEST("a layout of label pairs scores every pair at every step as the features say") {
    LayoutCosts cheap_singles, cheap_matrices, in_between;
    cheap_singles.single = cheap_singles.new_single = 1e-6;
    cheap_matrices.cell = cheap_matrices.new_cell = 1e-6;
    in_between.single = 0.5;  // a matrix for the attribute with all pairs that fires everywhere
    in_between.new_single = 1.0;
    for (const bool valued : {false, true})
        for (unsigned seed = 0; seed < 4; ++seed) {
            const Steps steps(valued, false, seed);
            const LinearMap map(steps.rows, steps.features);
            // Everything in matrices, because it is wanted or because they cost nothing; no matrix at all; some of
            // each.
            const PairLayout whole = LayoutMaker(map, steps.row, n_labels).make(steps.features, true, 2);
            const PairLayout matrices =
                LayoutMaker(map, steps.row, n_labels, cheap_matrices).make(steps.features, false, 2);
            const PairLayout singles =
                LayoutMaker(map, steps.row, n_labels, cheap_singles).make(steps.features, false, 1);
            const PairLayout usual = LayoutMaker(map, steps.row, n_labels).make(steps.features, false, 2);
            const PairLayout mixed = LayoutMaker(map, steps.row, n_labels, in_between).make(steps.features, false, 2);
            CHECK(whole.single.empty() && matrices.single.empty());
            for (const int32_t kind : whole.kind) CHECK(kind >= 0);
            CHECK(singles.matrices.rows().size() == 0 && !singles.single.empty());
            CHECK(mixed.matrices.rows().size() > 0 && !mixed.single.empty());
            // Steps of the row without attributes have neither.
            for (size_t t = 0; t < steps.row.size(); ++t)
                if (steps.row[t] == steps.rows.size() - 1) CHECK(mixed.kind[t] < 0 && mixed.row[t] < 0);
            for (const PairLayout* layout : {&whole, &matrices, &singles, &usual, &mixed}) check_layout(steps, *layout);
        }
}

TEST("with all features, label pairs are in matrices only") {
    const Steps steps(false, true, 9);
    const LinearMap map(steps.rows, steps.features);
    const PairLayout layout = LayoutMaker(map, steps.row, n_labels).make(steps.features, false, 2);
    CHECK(layout.single.empty() && layout.row_kind.empty());
    check_layout(steps, layout);
}
