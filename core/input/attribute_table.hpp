// Key → attribute number, by open addressing, with a filter in front: most keys that are asked for are not there, and
// eight bits a key, which stay in the cache, say so of nine tenths of them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace parsimon {

// Says of most keys that they are not there. Eight bits a key, one of which is set.
class KeyFilter {
  public:
    explicit KeyFilter(int64_t n = 0) {
        const uint64_t bits = std::bit_ceil(static_cast<uint64_t>(n) * 8 + 64);
        bits_.assign(bits / 64, 0);
        shift_ = 64 - (std::bit_width(bits) - 1);
    }
    void add(uint64_t key) { bits_[key >> shift_ >> 6] |= 1ull << (key >> shift_ & 63); }
    bool maybe(uint64_t key) const { return bits_[key >> shift_ >> 6] >> (key >> shift_ & 63) & 1; }
    void prefetch(uint64_t key) const { __builtin_prefetch(bits_.data() + (key >> shift_ >> 6)); }

  private:
    std::vector<uint64_t> bits_;
    int shift_;
};

// A slot is one word, the upper bits of the key and in place of the lower ones the attribute's number, so that a
// look-up costs one line of memory. (The lower bits of the key have said where to look, so hardly any bit is lost.)
class AttributeTable {
  public:
    // Room for n attributes, the first of which has the number `first`.
    explicit AttributeTable(int64_t n = 0, int64_t first = 0) : first_(static_cast<int32_t>(first)) {
        if (n == 0) return;
        slots_.assign(std::bit_ceil(static_cast<uint64_t>(n) * 4 / 3 + 1), empty);
        low_.resize(n);
        number_mask_ = (1ull << std::bit_width(static_cast<uint64_t>(n))) - 1;  // numbers within the table count from 1
        filter_ = KeyFilter(n);
    }

    int64_t size() const { return size_; }

    bool maybe(uint64_t key) const { return filter_.maybe(key); }
    void prefetch_filter(uint64_t key) const { filter_.prefetch(key); }
    // −1 if it is not there. Only of a table that is not empty.
    int32_t find(uint64_t key) const {
        const uint64_t mask = slots_.size() - 1;
        for (uint64_t at = key & mask;; at = (at + 1) & mask) {
            const uint64_t slot = slots_[at];
            if (slot == empty) return -1;
            if (((slot ^ key) & ~number_mask_) == 0) return first_ + static_cast<int32_t>((slot & number_mask_) - 1);
        }
    }
    void prefetch(uint64_t key) const { __builtin_prefetch(slots_.data() + (key & (slots_.size() - 1))); }

    // The key of the next attribute; it is not there yet.
    void add(uint64_t key) { add(key, first_ + static_cast<int32_t>(size_)); }
    void add(uint64_t key, int32_t number) {
        filter_.add(key);
        const uint64_t mask = slots_.size() - 1;
        uint64_t at = key & mask;
        while (slots_[at] != empty) at = (at + 1) & mask;
        slots_[at] = (key & ~number_mask_) | static_cast<uint64_t>(number - first_ + 1);
        low_[number - first_] = static_cast<uint32_t>(key);
        ++size_;
    }

    template <class Body>
    void each(Body&& body) const {
        for (const uint64_t slot : slots_) {
            if (slot == empty) continue;
            const uint64_t number = (slot & number_mask_) - 1;
            body((slot & ~number_mask_) | (low_[number] & number_mask_), first_ + static_cast<int32_t>(number));
        }
    }

  private:
    static constexpr uint64_t empty = 0;

    std::vector<uint64_t> slots_;
    KeyFilter filter_;
    std::vector<uint32_t> low_;  // bits of the keys
    uint64_t number_mask_ = 0;
    int32_t first_;
    int64_t size_ = 0;
};

}  // namespace parsimon
