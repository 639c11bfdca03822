// The public functions that read files by parts and convert numbers to the scalar type.
#include <utility>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "distributed/read_parts.hpp"
#include "distributed/read_together.hpp"
#include "distributed/shares.hpp"
#include "espalier/distributed.hpp"
#include "matrix/convert.hpp"
#include "matrix/entries.hpp"

namespace espalier {

namespace {

// A part is a range of columns of a matrix or of rows of a dense block.
template <class T> Index extent(CscMatrix<T> const& part) {
    return part.cols;
}
template <class T> Index extent(DenseMatrix<T> const& part) {
    return part.rows;
}

template <class T, class From>
void require_all_fit(CscMatrix<From> const& part, Index first, std::string const& path) {
    for_each_entry(part, [&](Index i, Index j, Offset p) {
        require_fits<T>(part.values[p], path, "the file", i, first + j);
    });
}

template <class T, class From>
void require_all_fit(DenseMatrix<From> const& part, Index first, std::string const& path) {
    for (Index j = 0; j < part.cols; ++j)
        for (Index i = 0; i < part.rows; ++i)
            require_fits<T>(part.column(j)[i], path, "the file", first + i, j);
}

// Converts `part`, which begins with column or row `first` of the file, to scalars T.
template <class T, class From> auto in_scalars(From&& part, Index first, std::string const& path) {
    using Given = typename decltype(part.values)::value_type;
    if constexpr (std::is_same_v<T, Given>) {
        return std::move(part);
    } else {
        if (is_complex<Given> && !is_complex<T>)
            throw Error(Status::usage,
                        fmt::format("{}: the numbers in the file are complex; read them with a "
                                    "complex scalar type",
                                    path));
        require_all_fit<T>(part, first, path);
        return convert<T>(part);
    }
}

// Collective: converts the part of this process to scalars T.
template <template <class> class Block, class T, class Any>
Block<T> part_in_scalars(Communicator const& processes, Any any, std::string const& path) {
    Index const mine = std::visit([](auto const& part) { return extent(part); }, any);
    Shares const shares(sum(processes, mine), processes.size());
    Block<T> part = all_succeed(processes, [] { return Block<T>(); });
    read_together(processes, path, [&] {
        part = std::visit(
            [&](auto& given) {
                return in_scalars<T>(std::move(given), shares.first(processes.rank()), path);
            },
            any);
    });
    return part;
}

} // namespace

template <class T>
CscMatrix<T> read_columns(Communicator const& processes, std::string const& path, int threads) {
    return part_in_scalars<CscMatrix, T>(processes, read_matrix_parts(processes, path, threads).matrix, path);
}

template <class T>
DenseMatrix<T> read_rows(Communicator const& processes, std::string const& path, int threads) {
    return part_in_scalars<DenseMatrix, T>(processes, read_dense_parts(processes, path, threads), path);
}

ESPALIER_INSTANTIATE_FUNCTION(read_columns)
ESPALIER_INSTANTIATE_FUNCTION(read_rows)

} // namespace espalier
