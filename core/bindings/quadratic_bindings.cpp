// What Python sees of quadratic models with a diagonal plus low-rank matrix, and of the tall matrices in them.
#include <optional>

#include "bindings/binding_arrays.hpp"
#include "kernels/kernels.hpp"
#include "kernels/low_rank_quadratic.hpp"

using namespace parsimon;

namespace {

TallMatrix tall(const In2<double>& rows) {
    return {static_cast<int64_t>(rows.shape(0)), static_cast<int64_t>(rows.shape(1)), rows.data()};
}

// Memory that is not filled first: the threads that write to it touch it, and nobody else.
double* unfilled(size_t n) { return new double[n]; }
Out<double> owned(double* values, std::initializer_list<size_t> shape) {
    return Out<double>(values, shape, nb::capsule(values, [](void* p) noexcept { delete[] static_cast<double*>(p); }));
}

}  // namespace

void bind_quadratic(nb::module_& m) {
    m.def(
        "descend",
        [](const In<double>& gradient, const In<double>& diagonal, const In<double>& curvature,
           const In2<double>& columns, const In2<double>& projected, const In<int64_t>& block,
           const In2<double>& matrix, const In<double>& w, const In<double>& l1, int sweeps, InOut<double> d,
           InOut<double> moment) {
            const size_t n = w.size(), rank = columns.shape(1);
            require(gradient.size() == n && diagonal.size() == n && curvature.size() == n && l1.size() == n
                        && d.size() == n,
                    "one number a weight");
            require(
                columns.shape(0) == n && projected.shape(0) == n && projected.shape(1) == rank && moment.size() == rank,
                "matrices must be weights × rank");
            require(matrix.shape(0) == block.size() && matrix.shape(1) == block.size(),
                    "the block has a square matrix");
            for (size_t i = 0; i < block.size(); ++i)
                require(block(i) >= (i ? block(i - 1) + 1 : 0) && block(i) < static_cast<int64_t>(n),
                        "the block's weights must be ascending");
            nb::gil_scoped_release free;
            kernels().descend({static_cast<int64_t>(n), static_cast<int64_t>(rank), gradient.data(), diagonal.data(),
                               curvature.data(), columns.data(), projected.data(), static_cast<int64_t>(block.size()),
                               block.data(), matrix.data()},
                              w.data(), l1.data(), sweeps, d.data(), moment.data());
        },
        "gradient"_a, "diagonal"_a, "curvature"_a, "columns"_a, "projected"_a, "block"_a, "matrix"_a, "w"_a, "l1"_a,
        "sweeps"_a, "d"_a.noconvert(), "moment"_a.noconvert(),
        "Coordinate descent on a diagonal (with a block) plus low-rank quadratic with an L1 norm.");

    m.def(
        "quadratic_rows",
        [](const In2<double>& pairs, const In<int64_t>& chosen, int64_t used, const In<double>& diagonal,
           const In2<double>& inverse, double least, Threads threads) {
            const size_t n = chosen.size(), rank = inverse.shape(0);
            require(diagonal.size() == n, "one number a chosen feature");
            require(inverse.shape(1) == rank && rank % 4 == 0, "the inverse must be square, of a size that 4 divides");
            require(used >= 0 && used % 2 == 0 && used <= static_cast<int64_t>(std::min(rank, pairs.shape(1))),
                    "the columns in use are pairs of those there are");
            for (size_t i = 0; i < n; ++i)
                require(chosen(i) >= 0 && chosen(i) < static_cast<int64_t>(pairs.shape(0)), "no such feature");
            double *columns = unfilled(n * rank), *projected = unfilled(n * rank), *curvature = unfilled(n);
            const nb::object out =
                nb::make_tuple(owned(columns, {n, rank}), owned(projected, {n, rank}), owned(curvature, {n}));
            {
                nb::gil_scoped_release free;
                kernels().quadratic_rows(tall(pairs), chosen.data(), used, inverse.data(), least,
                                         {static_cast<int64_t>(n), static_cast<int64_t>(rank), diagonal.data(), columns,
                                          projected, curvature},
                                         threads);
            }
            return out;
        },
        "pairs"_a, "chosen"_a, "used"_a, "diagonal"_a, "inverse"_a, "least"_a, "threads"_a,
        "W, W times the inverse, and the diagonal of D minus their product, of the chosen rows of pairs.");
    m.def(
        "tall_times",
        [](const In2<double>& a, const In<double>& z, Threads threads) {
            require(z.size() == a.shape(1), "one number a column");
            std::vector<double> out(a.shape(0));
            {
                nb::gil_scoped_release free;
                kernels().tall_times(tall(a), z.data(), out.data(), threads);
            }
            return to_numpy(std::move(out));
        },
        "a"_a, "z"_a, "threads"_a, "A z, for a matrix with many rows and few columns.");
    m.def(
        "tall_transposed_times",
        [](const In2<double>& a, const In<double>& x, Threads threads) {
            require(x.size() == a.shape(0), "one number a row");
            std::vector<double> out(a.shape(1));
            {
                nb::gil_scoped_release free;
                kernels().tall_transposed_times(tall(a), x.data(), out.data(), threads);
            }
            return to_numpy(std::move(out));
        },
        "a"_a, "x"_a, "threads"_a, "The transpose of A times x, summed in a fixed order.");
    m.def(
        "tall_gram",
        [](const In2<double>& a, const In<double>& weight, Threads threads) {
            require(weight.size() == a.shape(0), "one number a row");
            const size_t r = a.shape(1);
            std::vector<double> out(r * r);
            {
                nb::gil_scoped_release free;
                kernels().tall_gram(tall(a), weight.data(), out.data(), threads);
            }
            return to_numpy(std::move(out), {r, r});
        },
        "a"_a, "weight"_a, "threads"_a, "The transpose of A times its rows weighted, summed in a fixed order.");
    m.def(
        "take_pair",
        [](InOut2<double> columns, int64_t slot, const In<double>& s, const In<double>& y,
           const std::optional<In<double>>& diagonal, Threads threads) {
            const size_t n = columns.shape(0), width = columns.shape(1);
            require(s.size() == n && y.size() == n && (!diagonal || diagonal->size() == n), "one number a row");
            require(slot >= 0 && slot < static_cast<int64_t>(width / 2), "no such slot");
            std::vector<double> out(3 * width);
            {
                nb::gil_scoped_release free;
                kernels().take_pair(columns.data(), static_cast<int64_t>(n), static_cast<int64_t>(width), slot,
                                    s.data(), y.data(), diagonal ? diagonal->data() : nullptr, out.data(), threads);
            }
            return to_numpy(std::move(out), {3, width});
        },
        "columns"_a.noconvert(), "slot"_a, "s"_a, "y"_a, "diagonal"_a.none(), "threads"_a,
        "Puts s and y into a slot, and gives the products of s, y and (with a diagonal D) D s with all columns.");
    m.def(
        "pseudo_gradient",
        [](const In<double>& w, const In<double>& gradient, const In<double>& l1) {
            require(gradient.size() == w.size() && l1.size() == w.size(), "one number a weight");
            std::vector<double> out(w.size());
            {
                nb::gil_scoped_release free;
                kernels().pseudo_gradient(w.data(), gradient.data(), l1.data(), static_cast<int64_t>(w.size()),
                                          out.data());
            }
            return to_numpy(std::move(out));
        },
        "w"_a, "gradient"_a, "l1"_a, "The steepest one-sided slope of a smooth function plus an L1 norm.");
}
