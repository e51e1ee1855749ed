// A test framework in a page: TEST registers a function, CHECK stops it where it fails.
#pragma once

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Test {
    const char* name;
    void (*body)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Registered {
    Registered(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

inline std::string where(const char* file, int line) { return std::string(file) + ":" + std::to_string(line) + ": "; }

inline std::string shown(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

// Equal to within `tolerance`, relative for large numbers; infinities must be the same.
inline bool near(double a, double b, double tolerance) {
    return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::max(std::abs(a), std::abs(b)));
}

// The message of the exception of type E that `body` throws; a failure if it throws none.
template <class E, class Body>
E caught(const std::string& place, Body&& body) {
    try {
        body();
    } catch (const E& error) { return error; }
    throw Failure(place + "nothing was thrown");
}

}  // namespace check

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)
#define TEST_(name, function)                                                         \
    static void function();                                                           \
    static const check::Registered CHECK_JOIN(function, _registered)(name, function); \
    static void function()
#define TEST(name) TEST_(name, CHECK_JOIN(test_, __LINE__))

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) throw check::Failure(check::where(__FILE__, __LINE__) + #condition); \
    } while (false)
#define CHECK_NEAR(a, b, tolerance)                                                                             \
    do {                                                                                                        \
        const double a_ = (a), b_ = (b);                                                                        \
        if (!check::near(a_, b_, tolerance))                                                                    \
            throw check::Failure(check::where(__FILE__, __LINE__) + #a " = " + check::shown(a_) + ", " #b " = " \
                                 + check::shown(b_));                                                           \
    } while (false)
#define CAUGHT(type, expression) \
    check::caught<type>(check::where(__FILE__, __LINE__) + #expression ": ", [&] { expression; })
