#include <stdexcept>
#include <vector>

#include "base/threads.hpp"
#include "tests/check.hpp"

using namespace parsimon;

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
