// Some groups of features, without common members.
#pragma once

#include <cstdint>

namespace parsimon {

// Groups that are to be looked at, each with its features, ascending.
struct ActiveGroups {
    int64_t n = 0;
    const int64_t* start = nullptr;  // [n + 1]
    const int64_t* member = nullptr;
    const double* strength = nullptr;  // [n]
};

}  // namespace parsimon
