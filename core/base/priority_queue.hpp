// A heap whose items can change their priority at any time.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace parsimon {

// Items by priority, the largest on top (the first of equals), which can be changed at any time.
class PriorityQueue {
  public:
    explicit PriorityQueue(std::vector<double> priority)
        : priority_(std::move(priority)), heap_(priority_.size()), at_(priority_.size()) {
        std::iota(heap_.begin(), heap_.end(), int64_t{0});
        at_ = heap_;
        for (int64_t i = size() / 2; i-- > 0;) sink(i);
    }

    int64_t size() const { return static_cast<int64_t>(heap_.size()); }
    int64_t top() const { return heap_[0]; }
    double priority(int64_t item) const { return priority_[item]; }

    void change(int64_t item, double priority) {
        priority_[item] = priority;
        rise(at_[item]);
        sink(at_[item]);
    }

  private:
    bool before(int64_t a, int64_t b) const {
        return priority_[a] > priority_[b] || (priority_[a] == priority_[b] && a < b);
    }
    void put(int64_t i, int64_t item) { heap_[i] = item, at_[item] = i; }
    void rise(int64_t i) {
        const int64_t item = heap_[i];
        for (int64_t up = (i - 1) / 2; i > 0 && before(item, heap_[up]); i = up, up = (i - 1) / 2) put(i, heap_[up]);
        put(i, item);
    }
    void sink(int64_t i) {
        const int64_t item = heap_[i];
        for (int64_t down = 2 * i + 1; down < size(); i = down, down = 2 * i + 1) {
            if (down + 1 < size() && before(heap_[down + 1], heap_[down])) ++down;
            if (!before(heap_[down], item)) break;
            put(i, heap_[down]);
        }
        put(i, item);
    }

    std::vector<double> priority_;
    std::vector<int64_t> heap_, at_;
};

}  // namespace parsimon
