#include <algorithm>
#include <random>
#include <vector>

#include "base/priority_queue.hpp"
#include "tests/check.hpp"

using namespace parsimon;

TEST("a queue gives the largest, whatever changes") {
    std::mt19937 random(4);
    std::vector<double> priority(50);
    for (double& p : priority) p = static_cast<double>(random() % 20);
    PriorityQueue queue(priority);
    for (int i = 0; i < 500; ++i) {
        const auto top = std::max_element(priority.begin(), priority.end()) - priority.begin();
        CHECK(queue.top() == top);
        const auto item = static_cast<int64_t>(random() % 50);
        queue.change(item, priority[item] = static_cast<double>(random() % 20));
    }
}
