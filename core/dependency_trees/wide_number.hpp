// Numbers that are zero or more, with the precision of a double and an exponent that does not end at 10^±308: products
// of many small weights.
#pragma once

#include <cmath>
#include <cstdint>

namespace parsimon {

// digits · 2^(512 · power), with digits in [2^−256, 2^256) or zero.
class WideNumber {
  public:
    WideNumber() = default;
    explicit WideNumber(double value) : WideNumber(value, 0) {}

    static WideNumber exp_of(double log) {
        if (!(log > -INFINITY)) return {};
        const double power = std::nearbyint(log / log_base);
        return {std::exp(log - power * log_base), static_cast<int64_t>(power)};
    }
    double log() const { return std::log(digits_) + static_cast<double>(power_) * log_base; }

    WideNumber operator*(WideNumber other) const { return {digits_ * other.digits_, power_ + other.power_}; }
    WideNumber operator/(WideNumber other) const { return {digits_ / other.digits_, power_ - other.power_}; }
    WideNumber operator+(WideNumber other) const {
        if (power_ == other.power_ || other.digits_ == 0 || digits_ == 0)
            return {digits_ + other.digits_, other.digits_ == 0 ? power_ : other.power_};
        const WideNumber& high = power_ > other.power_ ? *this : other;
        const WideNumber& low = power_ > other.power_ ? other : *this;
        // From two powers on, what is low is under the last bit of what is high.
        return high.power_ - low.power_ > 1 ? high : WideNumber{high.digits_ + low.digits_ * down, high.power_};
    }
    WideNumber& operator+=(WideNumber other) { return *this = *this + other; }
    WideNumber& operator/=(WideNumber other) { return *this = *this / other; }
    bool operator>(double zero) const { return digits_ > zero; }  // only to be compared with 0

    // As a double, if it can be one: probabilities.
    explicit operator double() const {
        return power_ == 0 ? digits_ : std::ldexp(digits_, static_cast<int>(512 * power_));
    }

  private:
    static constexpr double up = 0x1p512, down = 0x1p-512, log_base = 512 * 0.693147180559945309417;

    WideNumber(double digits, int64_t power) : digits_(digits), power_(power) {
        if (digits_ >= 0x1p256) {
            digits_ *= down;
            ++power_;
        } else if (digits_ < 0x1p-256) {
            digits_ *= up;
            power_ = digits_ == 0 ? 0 : power_ - 1;
        }
    }

    double digits_ = 0;
    int64_t power_ = 0;
};

}  // namespace parsimon
