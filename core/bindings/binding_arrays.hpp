// How arrays come from Python and go back: checked once, and not copied where that can be helped.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace parsimon {

namespace nb = nanobind;
using namespace nb::literals;

// An array that is only read. One of another type is converted, unless that would change a number (see `fits`).
template <class T, size_t dimensions>
struct ReadArray : nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu> {
    using Base = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
    ReadArray() = default;
    explicit ReadArray(Base base) : Base(std::move(base)) {}
};
template <class T>
using In = ReadArray<T, 1>;
template <class T>
using In2 = ReadArray<T, 2>;
template <class T>
using In3 = ReadArray<T, 3>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut3 = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// Hands a vector over to NumPy without copying it.
template <class T>
Out<T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape = {}) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.size() == 0) return Out<T>(kept->data(), {kept->size()}, owner);
    return Out<T>(kept->data(), shape, owner);
}

inline void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

inline std::vector<int64_t> checked_offsets(const In<int64_t>& offsets, int64_t n_tokens) {
    std::vector<int64_t> copy(offsets.data(), offsets.data() + offsets.size());
    require(!copy.empty() && copy[0] == 0 && copy.back() == n_tokens,
            "offsets must run from 0 to the number of tokens");
    require(std::is_sorted(copy.begin(), copy.end()), "offsets must ascend");
    return copy;
}

// Inside the core, tokens, rows, attributes and columns have numbers of 31 bits, so products of two such sizes, and
// sums of products, stay within 63.
constexpr int64_t most_numbers = std::numeric_limits<int32_t>::max();

inline void require_finite(const In<double>& values, const char* what) {
    for (size_t i = 0; i < values.size(); ++i) require(std::isfinite(values(i)), what);
}

// A truth value of NumPy. Arrays may have bytes in them that are neither 0 nor 1, which C++ must not read as `bool`.
inline bool is_true(const bool* at) { return *reinterpret_cast<const uint8_t*>(at) != 0; }

inline std::unique_ptr<bool[]> truth_values(const In<bool>& given) {
    auto out = std::make_unique<bool[]>(given.size());
    for (size_t i = 0; i < given.size(); ++i) out[i] = is_true(given.data() + i);
    return out;
}

// Whether NumPy can convert an array to this type and every number stays what it is, but for the rounding of
// fractions to doubles. NumPy itself would take 0.5 for 0, and 2^32 + 1 for 1, when it makes 32-bit integers.
template <class T>
bool fits(nb::handle array) noexcept {
    try {
        const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
        const bool integers = kind == "i" || kind == "u" || kind == "b";
        if constexpr (!std::is_integral_v<T>) return integers || kind == "f";
        else if constexpr (std::is_same_v<T, bool>) return integers;
        else {
            if (!integers || nb::cast<int64_t>(array.attr("size")) == 0) return integers;
            // Numbers beyond 64 bits cannot be cast, which is caught below.
            const auto low = nb::cast<int64_t>(nb::int_(array.attr("min")())),
                       high = nb::cast<int64_t>(nb::int_(array.attr("max")()));
            return std::in_range<T>(low) && std::in_range<T>(high);
        }
    } catch (const std::exception&) { return false; }
}

// How many threads to work with. No result depends on it, and some memory is in proportion to it, so what is beyond
// these bounds is brought to the nearest one.
struct Threads {
    static constexpr int64_t most = 1024;
    int count = 1;

    operator int() const { return count; }
};

}  // namespace parsimon

template <class T, size_t dimensions>
struct nanobind::detail::type_caster<parsimon::ReadArray<T, dimensions>> {
    using Array = parsimon::ReadArray<T, dimensions>;
    NB_TYPE_CASTER(Array, make_caster<typename Array::Base>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        constexpr auto convert = static_cast<uint32_t>(cast_flags::convert);
        make_caster<typename Array::Base> base;
        if (!base.from_python(source, flags & ~convert, cleanup)
            && !((flags & convert) && parsimon::fits<T>(source) && base.from_python(source, flags, cleanup)))
            return false;
        value = Array(std::move(base.value));
        return true;
    }
};

template <>
struct nanobind::detail::type_caster<parsimon::Threads> {
    NB_TYPE_CASTER(parsimon::Threads, const_name("int"))

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<int64_t> number;
        if (!number.from_python(source, flags, cleanup)) return false;
        value.count = static_cast<int>(std::clamp<int64_t>(number.value, 1, parsimon::Threads::most));
        return true;
    }
};
