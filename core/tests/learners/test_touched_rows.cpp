#include <memory>
#include <vector>

#include "learners/touched_rows.hpp"
#include "tests/check.hpp"
#include "tests/learners/weights_as_map.hpp"

using namespace parsimon;
using namespace check;

TEST("touched rows are found again, grow and are reused") {
    const std::vector<int32_t> block(10, 0);
    TouchedRows rows(all_columns(10, 50), block.data());
    bool fresh;
    for (uint32_t c = 0; c < 50; ++c)
        for (int64_t a = 0; a < 10; ++a)
            rows.touch(a, (c * 7) % 50, fresh)->value = static_cast<double>(a * 100 + (c * 7) % 50);
    CHECK(rows.n_entries() == 500);
    for (int64_t a = 0; a < 10; ++a)
        for (uint32_t c = 0; c < 50; ++c)
            CHECK(rows.touch(a, c, fresh)->value == static_cast<double>(a * 100 + c) && !fresh);
    rows.drop(3);
    CHECK(rows.n_entries() == 450 && rows.head(3).n == 0);
    rows.filter(4, [](const WeightEntry& e) { return e.column < 3; });
    CHECK(rows.head(4).n == 3 && rows.n_entries() == 403);
    for (uint32_t c = 0; c < 3; ++c) CHECK(rows.touch(4, c, fresh)->value == 400.0 + c);
    rows.filter(4, [](const WeightEntry&) { return false; });
    CHECK(rows.head(4).n == 0);
}

TEST("only features that exist are touched") {
    auto some = std::make_shared<FeatureRows>();
    some->n_attributes = 2;
    some->width = 5;
    some->all = false;
    some->start = {0, 2, 3};
    some->column = {1, 4, 0};
    const std::vector<int32_t> block(2, 0);
    TouchedRows rows(some, block.data());
    bool fresh;
    CHECK(rows.touch(0, 0, fresh) == nullptr);
    CHECK(rows.touch(0, 4, fresh) != nullptr);
    CHECK(rows.touch(1, 0, fresh) != nullptr);
    CHECK(rows.feature(0, 4) == 1 && rows.feature(1, 0) == 2 && rows.n_entries() == 2);
}
