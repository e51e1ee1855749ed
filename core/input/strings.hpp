// Interned strings: every distinct string once, in one arena, known by a 32-bit id in order of arrival.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace parsimon {

// Less than eight bytes as one number, zeros behind them. Loads of fixed sizes, which may overlap, take a fraction of
// the time of a copy of n bytes.
inline uint64_t short_word(const char* p, size_t n) {
    uint64_t word = 0;
    if constexpr (std::endian::native != std::endian::little) {
        if (n) std::memcpy(&word, p, n);
    } else if (n >= 4) {
        uint32_t first, last;
        std::memcpy(&first, p, 4);
        std::memcpy(&last, p + n - 4, 4);
        word = first | static_cast<uint64_t>(last) << 8 * (n - 4);
    } else if (n) {
        const auto byte = [p](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << 8 * i; };
        word = byte(0) | byte(n / 2) | byte(n - 1);
    }
    return word;
}

constexpr uint64_t hash_prime = 0x9E3779B97F4A7C15ull;

inline uint64_t hash_end(uint64_t h, uint64_t word) {
    h = (h ^ word) * hash_prime;
    return h ^ (h >> 29);
}

// Of less than eight bytes, as a number.
inline uint64_t hash_word(uint64_t word, size_t n) { return hash_end(n * hash_prime, word); }

// Eight bytes at a time, each folded into the state by a multiplication and a shift.
inline uint64_t hash_bytes(std::string_view text) {
    const char* p = text.data();
    size_t left = text.size();
    if (left < 8) return hash_word(short_word(p, left), left);
    uint64_t h = text.size() * hash_prime, word;
    for (; left >= 8; p += 8, left -= 8) {
        std::memcpy(&word, p, 8);
        h = (h ^ word) * hash_prime;
        h ^= h >> 32;
    }
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(&word, p + left - 8, 8);  // with bytes that have been
        word = left ? word >> 8 * (8 - left) : 0;
    } else {
        word = short_word(p, left);
    }
    return hash_end(h, word);
}

class StringTable {
  public:
    static constexpr int32_t absent = -1;

    StringTable() : slots_(64, empty) { start_.push_back(0); }

    int32_t size() const { return static_cast<int32_t>(start_.size()) - 1; }

    std::string_view operator[](int32_t id) const {
        return {arena_.data() + start_[id], static_cast<size_t>(start_[id + 1] - start_[id])};
    }

    int32_t find(std::string_view text) const { return find(text, hash_bytes(text)); }
    int32_t find(std::string_view text, uint64_t h) const {
        for (uint64_t i = h;; ++i) {
            const uint64_t slot = slots_[i & mask()];
            if (slot == empty) return absent;
            if (tag_of(slot) == tag(h) && (*this)[id_of(slot)] == text) return id_of(slot);
        }
    }

    // The id of `text`, which is added when new.
    int32_t add(std::string_view text) {
        const uint64_t h = hash_bytes(text);
        for (uint64_t i = h;; ++i) {
            const uint64_t slot = slots_[i & mask()];
            if (slot == empty) break;
            if (tag_of(slot) == tag(h) && (*this)[id_of(slot)] == text) return id_of(slot);
        }
        const int32_t id = size();
        if (id == std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2^31 distinct strings");
        arena_.insert(arena_.end(), text.begin(), text.end());
        start_.push_back(static_cast<int64_t>(arena_.size()));
        if (static_cast<uint64_t>(size()) * 2 > slots_.size()) grow();
        else place(h, id);
        return id;
    }

    const std::vector<char>& arena() const { return arena_; }
    const std::vector<int64_t>& starts() const { return start_; }

  private:
    // A slot is the upper half of the hash and the id.
    static constexpr uint64_t empty = ~0ull;
    static uint32_t tag(uint64_t h) { return static_cast<uint32_t>(h >> 32); }
    static uint32_t tag_of(uint64_t slot) { return static_cast<uint32_t>(slot >> 32); }
    static int32_t id_of(uint64_t slot) { return static_cast<int32_t>(slot & 0xFFFFFFFFu); }
    uint64_t mask() const { return slots_.size() - 1; }

    void place(uint64_t h, int32_t id) {
        uint64_t i = h;
        while (slots_[i & mask()] != empty) ++i;
        slots_[i & mask()] = (h >> 32 << 32) | static_cast<uint32_t>(id);
    }

    void grow() {
        slots_.assign(slots_.size() * 2, empty);
        for (int32_t id = 0; id < size(); ++id) place(hash_bytes((*this)[id]), id);
    }

    std::vector<char> arena_;
    std::vector<int64_t> start_;
    std::vector<uint64_t> slots_;
};

}  // namespace parsimon
