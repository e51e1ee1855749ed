// What an extractor reads, as it comes from Python.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/binding_arrays.hpp"
#include "input/extractor.hpp"

namespace parsimon {

// Checked; the arrays must stay.
struct ExtractorInput {
    std::vector<int64_t> offsets;
    std::vector<Extractor::Input> inputs;
    Extractor::Sequences sequences;

    ExtractorInput(const In2<int32_t>& ids, const In2<int32_t>& before, const In2<int32_t>& after,
                   const In<int64_t>& starts, int32_t skip, const Extractor& extractor)
        : offsets(checked_offsets(starts, static_cast<int64_t>(ids.shape(1)))) {
        require(static_cast<int64_t>(ids.shape(0)) >= extractor.n_inputs(),
                "a template looks at an input that is not there");
        require(skip >= 0, "the number of tokens to skip must not be negative");
        require(before.shape(1) <= static_cast<size_t>(most_numbers), "the reach of templates is out of range");
        require(before.shape(0) == ids.shape(0) && after.shape(0) == ids.shape(0) && before.shape(1) == after.shape(1)
                    && before.shape(1) > 0,
                "boundary values must be inputs × reach");
        for (size_t i = 0; i < ids.shape(0); ++i)
            inputs.push_back({ids.data() + i * ids.shape(1), before.data() + i * before.shape(1),
                              after.data() + i * after.shape(1)});
        sequences = {offsets.data(), static_cast<int64_t>(offsets.size()) - 1, static_cast<int32_t>(before.shape(1)),
                     skip};
    }
};

}  // namespace parsimon
