#include <random>
#include <vector>

#include "maps/csr.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;
using namespace check;

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
