#include <random>
#include <vector>

#include "maps/attribute_rows.hpp"
#include "tests/check.hpp"
#include "tests/maps/random_rows.hpp"

using namespace parsimon;
using namespace check;

TEST("the rows of attributes are the transposed rows, without attributes that never fire") {
    std::mt19937 random(70);
    for (const bool valued : {true, false}) {
        Csr rows = random_rows(random, 30, 7, valued);
        for (int32_t& a : rows.index) a = 2 * a + 1;  // no even ones
        const Csr columns = transpose(rows, 16);
        const AttributeRows found = attribute_rows(rows, 16);
        CHECK(found.size() == 7);
        for (int64_t a = 0; a < 16; ++a) {
            const auto [begin, end] = found.entries_of(a);
            CHECK(end - begin == columns.start[a + 1] - columns.start[a]);
            for (int64_t i = 0; i < end - begin; ++i) {
                CHECK(found.index[begin + i] == columns.index[columns.start[a] + i]);
                if (valued) CHECK(found.value[begin + i] == columns.value[columns.start[a] + i]);
            }
            CHECK(found.place_from(a) == a / 2);
        }
        CHECK(found.place_from(99) == found.size());
    }
    CHECK(attribute_rows(Csr{{0}, {}, {}}, 3).size() == 0);
    CHECK(attribute_rows(random_rows(random, 4, 5, false, true), 5).entries_of(4).second == 20);  // all fire
}

TEST("rows on which an attribute fires once each are told from others") {
    std::mt19937 random(71);
    CHECK(full_rows(attribute_rows(random_rows(random, 9, 3, true, true), 3), 9) == std::vector<char>(3, 1));
    CHECK(full_rows(attribute_rows(random_rows(random, 9, 3, true, true), 3), 10) == std::vector<char>(3, 0));
}
