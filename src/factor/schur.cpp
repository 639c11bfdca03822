#include "factor/schur.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace espalier {

namespace {

// For each kept column, counted from the first one, its place in the caller's order. O(k log k).
std::vector<Index> places(BlockStructure const& structure, std::span<Index const> unknowns) {
    Index const k = structure.num_kept_cols();
    if (static_cast<Index>(unknowns.size()) != k)
        throw Error(Status::usage,
                    fmt::format("a Schur complement on {} unknowns was asked for, but {} were kept",
                                unknowns.size(), k));
    std::vector<std::pair<Index, Index>> columns; // unknown, column
    for (Index c = 0; c < k; ++c)
        columns.emplace_back(structure.unknown_of(structure.first_kept_col() + c), c);
    std::sort(columns.begin(), columns.end());
    std::vector<Index> place(k, -1);
    for (Index i = 0; i < k; ++i) {
        Index const unknown = unknowns[i];
        auto const at = std::lower_bound(columns.begin(), columns.end(), std::pair(unknown, Index{0}));
        bool const is_kept = at != columns.end() && at->first == unknown;
        if (!is_kept || place[at->second] >= 0)
            throw Error(Status::usage,
                        fmt::format("unknown {} (counted from 0) is {}", unknown,
                                    is_kept ? "named twice" : "not one of those of the Schur complement"));
        place[at->second] = i;
    }
    return place;
}

} // namespace

template <class T> DenseMatrix<T> schur_complement(Factor<T> const& factor, std::span<Index const> unknowns) {
    BlockStructure const& structure = factor.structure();
    FactorForm const form = factor.form();
    auto const place = places(structure, unknowns);
    Index const k = structure.num_kept_cols();
    DenseMatrix<T> s{k, k, std::vector<T>(k * k)};
    auto const entry = [&](Index i, Index j) -> T& { return s.column(place[j])[place[i]]; };
    // A kept panel has all rows from its first column on.
    for (CblkId c = structure.first_kept_cblk; c < structure.num_cblks(); ++c) {
        MatrixView<T> const lower = factor.lower(c);
        Index const first = factor.cblk(c).first_col - structure.first_kept_col();
        for (Index q = 0; q < lower.cols; ++q) {
            Index const j = first + q;
            if (form.has_upper()) {
                MatrixView<T> const upper = factor.upper(c);
                for (Index p = 0; p < lower.rows; ++p) entry(first + p, j) = lower(p, q);
                for (Index p = 0; p < upper.rows; ++p) entry(j, first + lower.cols + p) = upper(p, q);
                continue;
            }
            entry(j, j) = form.conjugate() ? T(real_part(lower(q, q))) : lower(q, q);
            for (Index p = q + 1; p < lower.rows; ++p) {
                entry(first + p, j) = lower(p, q);
                entry(j, first + p) = conj_if(form.conjugate(), lower(p, q));
            }
        }
    }
    return s;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template DenseMatrix<T> schur_complement<T>(Factor<T> const&, std::span<Index const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
