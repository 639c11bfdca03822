// Subtracts a buffered contribution column by column in runs of rows.
#include "kernels/update.hpp"

#include "core/scalar.hpp"

namespace espalier {

namespace {

// to[0 : n) -= from[0 : n) in reals; complex numbers are subtracted by parts.
template <class R> inline void subtract(R* __restrict to, R const* __restrict from, Index n) {
    for (Index i = 0; i < n; ++i) to[i] -= from[i];
}

template <class T> inline void subtract_run(T* to, T const* from, Index height) {
    constexpr Index parts = is_complex<T> ? 2 : 1;
    subtract(reinterpret_cast<Real<T>*>(to), reinterpret_cast<Real<T> const*>(from), parts * height);
}

} // namespace

template <class T>
void scatter_subtract(MatrixView<T const> source, std::span<RowRun const> runs, MatrixView<T> target) {
    for (Index j = 0; j < source.cols; ++j) {
        T const* const from = source.column(j);
        T* const to = target.column(j);
        for (RowRun const& run : runs) subtract_run(to + run.target_row, from + run.source_row, run.height);
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void scatter_subtract<T>(MatrixView<T const>, std::span<RowRun const>, MatrixView<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
