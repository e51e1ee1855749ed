// Memory for rows of an online learner that grow, shrink and go: places in large chunks, used again by rooms of one
// size.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace parsimon {

// Weights are spread over more memory than any cache holds, so what a row of attributes needs is asked for ahead of
// time: the heads of attributes so many places on, and the entries of some that are nearer.
constexpr int64_t heads_ahead = 24, entries_ahead = 10;

// Changes by less would only fill the memory with weights near zero.
constexpr double negligible_difference = 1e-7;

// Hands out places. The memory itself is its user's: chunk_size items a chunk, in as many arrays as the user needs.
class RowPool {
  public:
    static constexpr uint32_t chunk_bits = 20, chunk_size = 1u << chunk_bits;

    static size_t chunk(uint32_t place) { return place >> chunk_bits; }
    static uint32_t offset(uint32_t place) { return place & (chunk_size - 1); }

    // A place with room for so many items (at most chunk_size). add_chunk() is called if a new chunk is needed for it.
    template <class AddChunk>
    uint32_t allocate(uint32_t room, AddChunk&& add_chunk) {
        if (std::has_single_bit(room)) {
            std::vector<uint32_t>& places = free_[std::bit_width(room) - 1];
            if (!places.empty()) {
                const uint32_t place = places.back();
                places.pop_back();
                return place;
            }
        }
        if (!n_chunks_ || next_ + room > chunk_size) {
            if (n_chunks_ >> (32 - chunk_bits)) throw std::length_error("too many weights for online learning");
            add_chunk();
            ++n_chunks_;
            next_ = 0;
        }
        const uint32_t place = ((n_chunks_ - 1) << chunk_bits) + next_;
        next_ += room;
        return place;
    }
    // Takes a place back. Its room must be a power of two.
    void release(uint32_t place, uint32_t room) { free_[std::bit_width(room) - 1].push_back(place); }

  private:
    std::vector<std::vector<uint32_t>> free_ =
        std::vector<std::vector<uint32_t>>(chunk_bits + 1);  // by log₂ of the room
    uint32_t n_chunks_ = 0, next_ = 0;                       // next_: the first unused item of the last chunk
};

}  // namespace parsimon
