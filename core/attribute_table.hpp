// Key → attribute number, by open addressing, with a filter in front: most keys that are asked for are not there, and
// eight bits a key, which stay in the cache, say so of nine tenths of them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace parsimon {

class AttributeTable {
  public:
    // Room for n keys.
    explicit AttributeTable(int64_t n = 0) {
        if (n == 0) return;
        keys_.assign(std::bit_ceil(static_cast<uint64_t>(n) * 4 / 3 + 1), none);
        numbers_.resize(keys_.size());
        const uint64_t bits = std::bit_ceil(static_cast<uint64_t>(n) * 8 + 64);
        filter_.assign(bits / 64, 0);
        shift_ = 64 - (std::bit_width(bits) - 1);
    }

    int64_t size() const { return size_; }

    bool maybe(uint64_t key) const {
        const uint64_t bit = key >> shift_;
        return filter_[bit >> 6] >> (bit & 63) & 1;
    }
    // −1 if it is not there. Only of a table that is not empty.
    int32_t find(uint64_t key) const {
        key += key == none;
        const uint64_t mask = keys_.size() - 1;
        for (uint64_t at = key & mask;; at = (at + 1) & mask) {
            if (keys_[at] == key) return numbers_[at];
            if (keys_[at] == none) return -1;
        }
    }
    void prefetch(uint64_t key) const { __builtin_prefetch(keys_.data() + (key & (keys_.size() - 1))); }

    // A key that is not there yet.
    void add(uint64_t key, int32_t number) {
        filter_[key >> shift_ >> 6] |= 1ull << (key >> shift_ & 63);
        key += key == none;
        const uint64_t mask = keys_.size() - 1;
        uint64_t at = key & mask;
        while (keys_[at] != none) at = (at + 1) & mask;
        keys_[at] = key;
        numbers_[at] = number;
        ++size_;
    }

    template <class Body>
    void each(Body&& body) const {
        for (size_t at = 0; at < keys_.size(); ++at)
            if (keys_[at] != none) body(keys_[at], numbers_[at]);
    }

  private:
    static constexpr uint64_t none = 0;

    std::vector<uint64_t> keys_, filter_;
    std::vector<int32_t> numbers_;
    int64_t size_ = 0;
    int shift_ = 63;
};

}  // namespace parsimon
