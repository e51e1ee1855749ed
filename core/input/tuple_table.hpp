// Tuples of string ids, numbered: the attributes of one template.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace parsimon {

// The tuples of one skeleton: a hash table from k ids to a number, exact (tuples are compared, not hashes). Single ids
// are looked up directly. A negative id stands for an unknown string, so nothing is found.
class TupleTable {
  public:
    explicit TupleTable(int32_t arity) : arity_(arity), slots_(16, empty) {}

    int32_t arity() const { return arity_; }
    int32_t size() const { return size_; }
    const std::vector<int32_t>& tuples() const { return tuples_; }  // [size][arity]

    int32_t find(const int32_t* tuple) const {
        if (arity_ == 1) return tuple[0] >= 0 && tuple[0] < direct_size() ? direct_[tuple[0]] : -1;
        for (int32_t i = 0; i < arity_; ++i)
            if (tuple[i] < 0) return -1;
        const uint64_t h = hash(tuple);
        for (uint64_t i = h;; ++i) {
            const uint64_t slot = slots_[i & mask()];
            if (slot == empty) return -1;
            if (slot >> 32 == h >> 32 && same(tuple, id_of(slot))) return id_of(slot);
        }
    }

    int32_t add(const int32_t* tuple) {
        if (arity_ == 1) return add_direct(tuple[0]);
        const uint64_t h = hash(tuple);
        for (uint64_t i = h;; ++i) {
            const uint64_t slot = slots_[i & mask()];
            if (slot == empty) break;
            if (slot >> 32 == h >> 32 && same(tuple, id_of(slot))) return id_of(slot);
        }
        if (size_ == std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2^31 attributes");
        tuples_.insert(tuples_.end(), tuple, tuple + arity_);
        const int32_t id = size_++;
        if (static_cast<uint64_t>(size_) * 2 > slots_.size()) grow();
        else place(h, id);
        return id;
    }

  private:
    static constexpr uint64_t empty = ~0ull;
    static int32_t id_of(uint64_t slot) { return static_cast<int32_t>(slot & 0xFFFFFFFFu); }
    uint64_t mask() const { return slots_.size() - 1; }
    int32_t direct_size() const { return static_cast<int32_t>(direct_.size()); }

    int32_t add_direct(int32_t id) {
        if (id < 0) throw std::invalid_argument("an id is negative");
        if (id >= direct_size()) direct_.resize(std::max(static_cast<size_t>(id) + 1, direct_.size() * 2), -1);
        if (direct_[id] < 0) {
            direct_[id] = size_++;
            tuples_.push_back(id);
        }
        return direct_[id];
    }

    uint64_t hash(const int32_t* tuple) const {
        uint64_t h = 0x243F6A8885A308D3ull;
        for (int32_t i = 0; i < arity_; ++i) {
            h = (h ^ static_cast<uint32_t>(tuple[i])) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 32;
        }
        h *= 0xD6E8FEB86659FD93ull;
        return h ^ (h >> 32);
    }
    bool same(const int32_t* tuple, int32_t id) const {
        const int32_t* other = tuples_.data() + static_cast<int64_t>(id) * arity_;
        for (int32_t i = 0; i < arity_; ++i)
            if (tuple[i] != other[i]) return false;
        return true;
    }
    void place(uint64_t h, int32_t id) {
        uint64_t i = h;
        while (slots_[i & mask()] != empty) ++i;
        slots_[i & mask()] = (h >> 32 << 32) | static_cast<uint32_t>(id);
    }
    void grow() {
        slots_.assign(slots_.size() * 2, empty);
        for (int32_t id = 0; id < size_; ++id) place(hash(tuples_.data() + static_cast<int64_t>(id) * arity_), id);
    }

    int32_t arity_, size_ = 0;
    std::vector<int32_t> tuples_;
    std::vector<int32_t> direct_;  // by id, for single ids
    std::vector<uint64_t> slots_;
};

}  // namespace parsimon
