// How cautious steps of block coordinate descent are, block by block.
//
// Features of a block are moved together, and how much they stand in for each other is not in the diagonal of the
// Hessian. A block whose next step takes back most of its last one has been moved too far: its steps become shorter,
// and longer again while they go on in one direction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "learners/block_weights.hpp"

namespace parsimon {

// What one step of a block changes.
struct BlockStep {
    CellValues cells[2];  // of tokens, of steps
    double largest = 0;   // |change|
};

class BlockCaution {
  public:
    // What the diagonal of a block's Hessian is multiplied by, on top of everybody's caution.
    double of(int64_t block) const {
        const auto at = memory_.find(block);
        return at == memory_.end() ? 1.0 : at->second.caution;
    }

    void learn(int64_t block, const BlockStep& step) {
        // The cosine from which a step is said to turn back, and how short one (as a share of the squared length of the
        // last) does not matter.
        constexpr double turning_back = -0.25, short_step = 0.1;
        constexpr double most_caution = 1e6, relaxation = 0.8;
        if (step.largest == 0 && !memory_.contains(block)) return;
        Memory& memory = memory_[block];
        double both = 0, before = 0, now = 0;
        for (int part = 0; part < 2; ++part) {
            const CellValues &last = memory.last.cells[part], &next = step.cells[part];
            size_t i = 0;
            for (const CellValue& old : last) {
                before += old.value * old.value;
                while (i < next.size() && next[i].cell < old.cell) ++i;
                if (i < next.size() && next[i].cell == old.cell) both += old.value * next[i].value;
            }
            for (const CellValue& change : next) now += change.value * change.value;
        }
        memory.last = step;
        if (both < turning_back * std::sqrt(before * now) && now > short_step * before)
            memory.caution = std::min(2 * memory.caution, most_caution);
        else if (both > 0) memory.caution = std::max(1.0, relaxation * memory.caution);
    }

  private:
    struct Memory {
        BlockStep last;
        double caution = 1;
    };
    std::unordered_map<int64_t, Memory> memory_;
};

}  // namespace parsimon
