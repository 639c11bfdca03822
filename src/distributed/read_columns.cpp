// The public side of reading by parts: the caller's scalar type.
#include <complex>
#include <utility>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "distributed/read_parts.hpp"
#include "distributed/read_together.hpp"
#include "distributed/shares.hpp"
#include "espalier/distributed.hpp"
#include "matrix/convert.hpp"

namespace espalier {

namespace {

template <class T, class From>
void require_all_fit(CscMatrix<From> const& part, Index first, std::string const& path) {
    for (Index j = 0; j < part.cols; ++j)
        for (Offset p = part.col_ptr[j]; p < part.col_ptr[j + 1]; ++p)
            require_fits<T>(part.values[p], path, "the file", part.row_ind[p], first + j);
}

template <class T, class From>
void require_all_fit(DenseMatrix<From> const& part, Index first, std::string const& path) {
    for (Index j = 0; j < part.cols; ++j)
        for (Index i = 0; i < part.rows; ++i)
            require_fits<T>(part.column(j)[i], path, "the file", first + i, j);
}

// `part` in scalars T; it begins with column or row `first` of the file.
template <class T, class From> auto in_scalars(From&& part, Index first, std::string const& path) {
    using Given = typename decltype(part.values)::value_type;
    if constexpr (std::is_same_v<T, Given>) {
        return std::move(part);
    } else {
        if (is_complex<Given> && !is_complex<T>)
            throw Error(Status::usage, fmt::format("{}: the numbers in the file are complex, those asked for "
                                                   "are real",
                                                   path));
        require_all_fit<T>(part, first, path);
        return convert<T>(part);
    }
}

template <class T>
CscMatrix<T> columns_from_file(Communicator const& processes, std::string const& path, int threads) {
    NamedMatrix named = read_matrix_parts(processes, path, threads);
    CscMatrix<T> part;
    Index const mine = std::visit([](auto const& matrix) { return matrix.cols; }, named.matrix);
    Shares const columns(sum(processes, mine), processes.size());
    read_together(processes, path, [&] {
        part = std::visit(
            [&](auto& matrix) {
                return in_scalars<T>(std::move(matrix), columns.first(processes.rank()), path);
            },
            named.matrix);
    });
    return part;
}

template <class T>
DenseMatrix<T> rows_from_file(Communicator const& processes, std::string const& path, int threads) {
    AnyDense block = read_dense_parts(processes, path, threads);
    DenseMatrix<T> part;
    Index const mine = std::visit([](auto const& dense) { return dense.rows; }, block);
    Shares const rows(sum(processes, mine), processes.size());
    read_together(processes, path, [&] {
        part = std::visit(
            [&](auto& dense) { return in_scalars<T>(std::move(dense), rows.first(processes.rank()), path); },
            block);
    });
    return part;
}

} // namespace

template <class T>
CscMatrix<T> read_columns(Communicator const& processes, std::string const& path, int threads) {
    return columns_from_file<T>(processes, path, threads);
}

template <class T>
DenseMatrix<T> read_rows(Communicator const& processes, std::string const& path, int threads) {
    return rows_from_file<T>(processes, path, threads);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template CscMatrix<T> read_columns<T>(Communicator const&, std::string const&, int);                     \
    template DenseMatrix<T> read_rows<T>(Communicator const&, std::string const&, int);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
