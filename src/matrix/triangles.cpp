// Linear passes over compressed columns. All intermediate columns are sorted, so triangles can be merged, and
// a matrix compared with its transpose, in linear time.
#include "matrix/triangles.hpp"

#include <complex>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "core/scalar.hpp"
#include "matrix/entries.hpp"
#include "matrix/spelled.hpp"

namespace espalier {

namespace {

constexpr char const* adjectives[] = {"general", "symmetric", "Hermitian", "skew-symmetric"};

char const* adjective(DeclaredSymmetry declared) {
    return adjectives[static_cast<int>(declared)];
}

// The mirror image of the entries above the diagonal, a strictly lower triangle.
template <class T> CscMatrix<T> mirror_of_upper(CscMatrix<T> const& matrix, DeclaredSymmetry declared) {
    return build_columns<T>(matrix.rows, matrix.cols, Symmetry::general, [&](auto const& put) {
        for_each_entry(matrix, [&](Index i, Index j, Offset p) {
            if (i < j) put(j, i, mirror_image(declared, matrix.values[p]));
        });
    });
}

// The union of two lower triangles; counts the entries in both and calls `disagree` if their values differ.
template <class T, class Disagree>
CscMatrix<T> merge(CscMatrix<T> const& a, CscMatrix<T> const& b, Offset& overlap, Disagree const& disagree) {
    CscMatrix<T> merged;
    merged.rows = a.rows;
    merged.cols = a.cols;
    merged.col_ptr.assign(a.cols + 1, 0);
    merged.row_ind.reserve(a.stored() + b.stored());
    merged.values.reserve(a.stored() + b.stored());
    auto const append = [&](CscMatrix<T> const& from, Offset p) {
        merged.row_ind.push_back(from.row_ind[p]);
        merged.values.push_back(from.values[p]);
    };
    for (Index j = 0; j < a.cols; ++j) {
        auto [p, p_end] = a.entries_of(j);
        auto [q, q_end] = b.entries_of(j);
        while (p < p_end || q < q_end) {
            Index const row_a = p < p_end ? a.row_ind[p] : a.rows;
            Index const row_b = q < q_end ? b.row_ind[q] : b.rows;
            if (row_a == row_b) {
                if (a.values[p] != b.values[q]) disagree(row_a, j, a.values[p], b.values[q]);
                ++overlap;
            }
            if (row_a <= row_b)
                append(a, p++);
            else
                append(b, q);
            if (row_b <= row_a) ++q;
        }
        merged.col_ptr[j + 1] = std::ssize(merged.row_ind);
    }
    return merged;
}

// Expands the lower triangle of a skew-symmetric matrix to a general matrix. The entries above the diagonal
// come first in each column.
template <class T> CscMatrix<T> expand_skew(CscMatrix<T> const& matrix) {
    return build_columns<T>(matrix.rows, matrix.cols, Symmetry::general, [&](auto const& put) {
        for_each_entry(matrix, [&](Index i, Index j, Offset p) {
            if (i != j) put(j, i, -matrix.values[p]);
        });
        for_each_entry(matrix, [&](Index i, Index j, Offset p) { put(i, j, matrix.values[p]); });
    });
}

} // namespace

void require_square(Index rows, Index cols, DeclaredSymmetry declared, std::string const& source) {
    if (rows != cols)
        throw Error(Status::bad_input,
                    fmt::format("{}: the matrix is declared {}, but has {} and {}", source,
                                adjective(declared), counted(rows, "row"), counted(cols, "column")));
}

template <class T> void check_diagonal(CscMatrix<T> const& matrix, Index first, DeclaredSymmetry declared,
                                       std::string const& source) {
    for_each_entry(matrix, [&](Index i, Index j, Offset p) {
        if (i != first + j) return;
        T const value = matrix.values[p];
        char const* wrong = nullptr;
        if (declared == DeclaredSymmetry::hermitian && imag_part(value) != 0) wrong = "is not real";
        if (declared == DeclaredSymmetry::skew_symmetric && value != T(0)) wrong = "is not zero";
        if (wrong)
            throw Error(Status::bad_input,
                        fmt::format("{}: the matrix is declared {}, but its diagonal entry ({}, {}) = {} {}",
                                    source, adjective(declared), i + 1, i + 1, spelled(value), wrong));
    });
}

template <class T> TriangleCounts count_triangles(CscMatrix<T> const& matrix, Index first) {
    TriangleCounts counts;
    for_each_entry(matrix, [&](Index i, Index j, Offset) {
        counts.below += i > first + j;
        counts.above += i < first + j;
    });
    return counts;
}

template <class T> void keep_lower(CscMatrix<T>& matrix, Index first) {
    retain_entries(matrix, [&](Index i, Index j, Offset) { return i >= first + j; });
}

template <class T> Offset fold_in(CscMatrix<T>& matrix, Index first, CscMatrix<T> const& mirror,
                                  DeclaredSymmetry declared, std::string const& source) {
    keep_lower(matrix, first);
    Offset both = 0;
    matrix = merge(matrix, mirror, both, [&](Index i, Index j, T lower, T upper) {
        throw Error(Status::bad_input,
                    fmt::format("{}: contradictory entries of a {} matrix: ({}, {}) = {} but ({}, {}) = {}",
                                source, adjective(declared), i + 1, first + j + 1, spelled(lower),
                                first + j + 1, i + 1, spelled(mirror_image(declared, upper))));
    });
    return both;
}

void note_storage(TriangleCounts const& counts, std::vector<std::string>& notes) {
    auto const [below, above, both] = counts;
    if (above == 0) return;
    if (below == 0)
        notes.push_back("the upper triangle of a symmetric matrix was stored");
    else if (both == 0)
        notes.push_back("entries of a symmetric matrix were stored in either triangle");
    else if (both == below && both == above)
        notes.push_back("both triangles of a symmetric matrix were stored");
    else
        notes.push_back(fmt::format("{} entries of a symmetric matrix were stored in both triangles", both));
}

template <class T> void fold_triangles(CscMatrix<T>& matrix, DeclaredSymmetry declared,
                                       std::string const& source, std::vector<std::string>& notes) {
    require_square(matrix.rows, matrix.cols, declared, source);
    check_diagonal(matrix, 0, declared, source);
    TriangleCounts counts = count_triangles(matrix, 0);
    if (counts.above > 0)
        counts.both = fold_in(matrix, 0, mirror_of_upper(matrix, declared), declared, source);
    note_storage(counts, notes);
    if (declared == DeclaredSymmetry::skew_symmetric) {
        matrix = expand_skew(matrix);
        notes.push_back(note_of_expansion);
    } else {
        matrix.symmetry = folded_symmetry<T>(declared);
    }
}

// Columns are visited in order, so the mirror image of A(i, j), i > j, must be the first entry of column i
// that is not matched yet.
template <class T> bool equals_mirror_image(CscMatrix<T> const& matrix, bool conjugate) {
    std::vector<Offset> next(matrix.col_ptr.begin(), matrix.col_ptr.end() - 1);
    for (Index j = 0; j < matrix.cols; ++j) {
        Offset const end = matrix.col_ptr[j + 1];
        Offset p = next[j];
        if (p < end && matrix.row_ind[p] < j) return false; // column i lacks its mirror image
        for (; p < end; ++p) {
            Index const i = matrix.row_ind[p];
            Offset const q = i == j ? p : next[i]++;
            if (q >= matrix.col_ptr[i + 1] || matrix.row_ind[q] != j) return false;
            if (matrix.values[p] != conj_if(conjugate, matrix.values[q])) return false;
        }
    }
    return true;
}

void note_recognized(Symmetry symmetry, std::vector<std::string>& notes) {
    notes.push_back(fmt::format("declared general; values are {}",
                                symmetry == Symmetry::symmetric ? "symmetric" : "Hermitian"));
}

template <class T> void recognize_symmetry(CscMatrix<T>& matrix, std::vector<std::string>& notes) {
    if (matrix.rows != matrix.cols || matrix.rows == 0) return;
    if (equals_mirror_image(matrix, false))
        matrix.symmetry = Symmetry::symmetric;
    else if (is_complex<T> && equals_mirror_image(matrix, true))
        matrix.symmetry = Symmetry::hermitian;
    else
        return;
    keep_lower(matrix, 0);
    note_recognized(matrix.symmetry, notes);
}

ESPALIER_INSTANTIATE_FUNCTION(equals_mirror_image)
ESPALIER_INSTANTIATE_FUNCTION(recognize_symmetry)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void check_diagonal(CscMatrix<T> const&, Index, DeclaredSymmetry, std::string const&);          \
    template TriangleCounts count_triangles(CscMatrix<T> const&, Index);                                     \
    template void keep_lower(CscMatrix<T>&, Index);                                                          \
    template Offset fold_in(CscMatrix<T>&, Index, CscMatrix<T> const&, DeclaredSymmetry,                     \
                            std::string const&);                                                             \
    template void fold_triangles(CscMatrix<T>&, DeclaredSymmetry, std::string const&,                        \
                                 std::vector<std::string>&);
ESPALIER_INSTANTIATE(double)
ESPALIER_INSTANTIATE(std::complex<double>)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
