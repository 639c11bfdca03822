#include "factor/schur.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace espalier {

namespace {

// For each kept column, counted from the first one, its position in the caller's order. O(k log k).
std::vector<Index> places(BlockStructure const& structure, std::span<Index const> unknowns) {
    Index const k = structure.num_kept_cols();
    if (static_cast<Index>(unknowns.size()) != k)
        throw Error(Status::usage,
                    fmt::format("a Schur complement on {} unknowns was requested, but {} unknowns were kept",
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
            throw Error(Status::usage, fmt::format("unknown {} (counted from 0) is {}", unknown,
                                                   is_kept ? "named twice" : "not in the Schur complement"));
        place[at->second] = i;
    }
    return place;
}

// Calls visit(i, j, value) for all entries of S, in the order of the kept columns.
template <class T, class Visit> void for_each_kept_entry(Factor<T> const& factor, Visit const& visit) {
    BlockStructure const& structure = factor.structure();
    FactorForm const form = factor.form();
    // A kept panel has all rows from its first column on.
    for (CblkId c = structure.first_kept_cblk; c < structure.num_cblks(); ++c) {
        MatrixView<T> const lower = factor.lower(c);
        Index const first = factor.cblk(c).first_col - structure.first_kept_col();
        for (Index q = 0; q < lower.cols; ++q) {
            Index const j = first + q;
            if (form.has_upper()) {
                MatrixView<T> const upper = factor.upper(c);
                for (Index p = 0; p < lower.rows; ++p) visit(first + p, j, lower(p, q));
                for (Index p = 0; p < upper.rows; ++p) visit(j, first + lower.cols + p, upper(p, q));
                continue;
            }
            visit(j, j, form.conjugate() ? T(real_part(lower(q, q))) : lower(q, q));
            for (Index p = q + 1; p < lower.rows; ++p) {
                visit(first + p, j, lower(p, q));
                visit(j, first + p, conj_if(form.conjugate(), lower(p, q)));
            }
        }
    }
}

} // namespace

template <class T> DenseMatrix<T> schur_complement(Factor<T> const& factor, std::span<Index const> unknowns) {
    auto const place = places(factor.structure(), unknowns);
    Index const k = std::ssize(place);
    DenseMatrix<T> s{k, k, std::vector<T>(k * k)};
    for_each_kept_entry(factor, [&](Index i, Index j, T value) { s.column(place[j])[place[i]] = value; });
    return s;
}

template <class T>
std::vector<T> schur_product(Factor<T> const& factor, std::span<Index const> unknowns, std::span<T const> v) {
    auto const place = places(factor.structure(), unknowns);
    std::vector<T> product(place.size(), T(0));
    for_each_kept_entry(factor, [&](Index i, Index j, T value) { product[place[i]] += value * v[place[j]]; });
    return product;
}

ESPALIER_INSTANTIATE_FUNCTION(schur_complement)
ESPALIER_INSTANTIATE_FUNCTION(schur_product)

} // namespace espalier
