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
#include <stdexcept>
#include <vector>

namespace parsimon {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using In3 = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
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

}  // namespace parsimon
