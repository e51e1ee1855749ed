// Random numbers that do not depend on threads: everything that is drawn has a stream of its own.
#pragma once

#include <cstdint>

namespace parsimon {

// SplitMix64 (Steele, Lea, Flood 2014): a stream per (seed, number).
struct SplitMix {
    uint64_t state;

    static SplitMix stream(uint64_t seed, int64_t number) {
        return {seed ^ (static_cast<uint64_t>(number) * 0xD1342543DE82EF95ull)};
    }

    double uniform() {
        uint64_t z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
};

}  // namespace parsimon
