#include "distributed/fold_parts.hpp"

#include <bit>
#include <complex>
#include <utility>

#include "comm/collective.hpp"
#include "core/mix_bits.hpp"
#include "core/scalar.hpp"
#include "distributed/entry_exchange.hpp"
#include "distributed/read_together.hpp"
#include "matrix/entries.hpp"
#include "matrix/triangles.hpp"

namespace espalier {

namespace {

// Calls visit(i, j, value) for every entry, with column numbers of the whole matrix.
template <class T, class Visit>
void for_each_entry(CscMatrix<T> const& part, Index first, Visit const& visit) {
    for_each_entry(part, [&](Index i, Index j, Offset p) { visit(i, first + j, part.values[p]); });
}

// image(value) at (j, i) for each entry (i, j) with picks(i, j), in the columns of this process.
template <class T, class Picks, class Image>
CscMatrix<T> images(Communicator const& comm, Shares const& columns, CscMatrix<T> const& part,
                    Picks const& picks, Image const& image) {
    Triples<T> entries;
    all_succeed(comm, [&] {
        entries.resize(1);
        Index const first = columns.first(comm.rank());
        for_each_entry(part, first, [&](Index i, Index j, T value) {
            if (picks(i, j)) entries[0].push_back({j, i, image(value)});
        });
    });
    Offset none = 0;
    return own_columns(comm, columns, part.rows, std::move(entries), 1, none);
}

bool is_above(Index i, Index j) {
    return i < j;
}
bool is_below(Index i, Index j) {
    return i > j;
}

// Expands the lower triangle of a skew-symmetric matrix. Columns remain sorted if the mirror images, which
// are above the diagonal, come first.
template <class T> void expand_skew(Communicator const& comm, Shares const& columns, CscMatrix<T>& lower) {
    auto const upper = images(comm, columns, lower, is_below, [](T value) { return -value; });
    lower = all_succeed(comm, [&] {
        CscMatrix<T> whole;
        whole.rows = lower.rows;
        whole.cols = lower.cols;
        for (Index j = 0; j < lower.cols; ++j) {
            for (auto const* from : {&upper, &std::as_const(lower)}) {
                auto const begin = from->col_ptr[j], end = from->col_ptr[j + 1];
                whole.row_ind.insert(whole.row_ind.end(), from->row_ind.begin() + begin,
                                     from->row_ind.begin() + end);
                whole.values.insert(whole.values.end(), from->values.begin() + begin,
                                    from->values.begin() + end);
            }
            whole.col_ptr.push_back(static_cast<Offset>(whole.row_ind.size()));
        }
        return whole;
    });
}

// Sums over the entries of both triangles, which are equal if one is the mirror image of the other.
struct Digest {
    std::int64_t lower = 0;
    std::int64_t upper = 0;     // sum over the upper triangle as entries of A^T
    std::int64_t conjugate = 0; // the same as entries of A^H
    std::int64_t not_real = 0;  // entries of the diagonal
};

constexpr std::uint64_t digest_bits =
    (std::uint64_t{1} << 40) - 1; // integers, whose sum over processes is exact

template <class R> std::uint64_t bits_of(R part) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(part) + 0.0); // -0 is 0
}

template <class T> std::uint64_t hash_of(Index i, Index j, T value) {
    std::uint64_t hash = hash_bits(static_cast<std::uint64_t>(i));
    hash = hash_bits(hash ^ static_cast<std::uint64_t>(j));
    hash = hash_bits(hash ^ bits_of(real_part(value)));
    return hash_bits(hash ^ bits_of(imag_part(value)));
}

template <class T> Digest digest_of(CscMatrix<T> const& part, Index first) {
    std::uint64_t lower = 0, upper = 0, conjugate = 0;
    Digest digest;
    for_each_entry(part, first, [&](Index i, Index j, T value) {
        if (i > j) lower += hash_of(i, j, value);
        if (i < j) upper += hash_of(j, i, value);
        if (i < j && is_complex<T>) conjugate += hash_of(j, i, conj(value));
        if (i == j) digest.not_real += imag_part(value) != 0;
    });
    digest.lower = static_cast<std::int64_t>(lower & digest_bits);
    digest.upper = static_cast<std::int64_t>(upper & digest_bits);
    digest.conjugate = static_cast<std::int64_t>(conjugate & digest_bits);
    return digest;
}

bool agree_in_sum(std::int64_t a, std::int64_t b) {
    return ((static_cast<std::uint64_t>(a) ^ static_cast<std::uint64_t>(b)) & digest_bits) == 0;
}

// Whether the entries below the diagonal equal those of `mirror`.
template <class T> bool equals_lower(CscMatrix<T> const& part, Index first, CscMatrix<T> const& mirror) {
    for (Index j = 0; j < part.cols; ++j) {
        Offset q = mirror.col_ptr[j];
        for (Offset p = part.col_ptr[j]; p < part.col_ptr[j + 1]; ++p) {
            if (part.row_ind[p] <= first + j) continue;
            if (q == mirror.col_ptr[j + 1] || mirror.row_ind[q] != part.row_ind[p]) return false;
            if (part.values[p] != mirror.values[q++]) return false;
        }
        if (q != mirror.col_ptr[j + 1]) return false;
    }
    return true;
}

} // namespace

template <class T> void fold_parts(Communicator const& comm, Shares const& columns, CscMatrix<T>& part,
                                   DeclaredSymmetry declared, std::string const& source,
                                   std::vector<std::string>& notes) {
    Index const first = columns.first(comm.rank());
    read_together(comm, source, [&] { check_diagonal(part, first, declared, source); });
    TriangleCounts counts = count_triangles(part, first);
    counts.below = sum(comm, counts.below);
    counts.above = sum(comm, counts.above);
    if (counts.above > 0) {
        auto const mirror =
            images(comm, columns, part, is_above, [&](T value) { return mirror_image(declared, value); });
        read_together(comm, source, [&] { counts.both = fold_in(part, first, mirror, declared, source); });
        counts.both = sum(comm, counts.both);
    }
    bool const is_skew = declared == DeclaredSymmetry::skew_symmetric;
    all_succeed(comm, [&] {
        note_storage(counts, notes);
        if (is_skew) notes.emplace_back(note_of_expansion);
    });
    if (is_skew)
        expand_skew(comm, columns, part);
    else
        part.symmetry = folded_symmetry<T>(declared);
}

template <class T> void recognize_parts(Communicator const& comm, Shares const& columns, CscMatrix<T>& part,
                                        std::vector<std::string>& notes) {
    Index const first = columns.first(comm.rank());
    Digest const mine = digest_of(part, first);
    std::int64_t sums[] = {mine.lower, mine.upper, mine.conjugate, mine.not_real};
    sum(comm, std::span<std::int64_t>(sums));
    auto const [lower, upper, conjugate, not_real] = sums;
    auto const is_mirrored = [&](bool conjugated) {
        auto const mirror =
            images(comm, columns, part, is_above, [&](T value) { return conj_if(conjugated, value); });
        return min(comm, std::int64_t{equals_lower(part, first, mirror)}) == 1;
    };
    if (agree_in_sum(lower, upper) && is_mirrored(false))
        part.symmetry = Symmetry::symmetric;
    else if (is_complex<T> && not_real == 0 && agree_in_sum(lower, conjugate) && is_mirrored(true))
        part.symmetry = Symmetry::hermitian;
    else
        return;
    keep_lower(part, first);
    all_succeed(comm, [&] { note_recognized(part.symmetry, notes); });
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void fold_parts(Communicator const&, Shares const&, CscMatrix<T>&, DeclaredSymmetry,            \
                             std::string const&, std::vector<std::string>&);                                 \
    template void recognize_parts(Communicator const&, Shares const&, CscMatrix<T>&,                         \
                                  std::vector<std::string>&);
ESPALIER_INSTANTIATE(double)
ESPALIER_INSTANTIATE(std::complex<double>)

} // namespace espalier
