#include <random>
#include <vector>

#include "input/attribute_table.hpp"
#include "tests/check.hpp"

using namespace parsimon;

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
