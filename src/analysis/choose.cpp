#include "analysis/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "matrix/convert.hpp"
#include "matrix/entries.hpp"

namespace espalier {

namespace {

// Returns what shows that a matrix is not positive definite, or null if it may be. Tests a necessary
// condition in one pass: a positive diagonal, and |a_ij|^2 < a_ii a_jj.
template <class T> char const* contradiction_to_definiteness(CscMatrix<T> const& a) {
    // square roots of the diagonal, because the product of two entries may overflow
    std::vector<Real<T>> root(a.cols, Real<T>(0));
    for_each_entry(a, [&](Index i, Index j, Offset p) {
        if (i == j && real_part(a.values[p]) > 0) root[j] = std::sqrt(real_part(a.values[p]));
    });
    if (!std::ranges::all_of(root, [](Real<T> r) { return r > 0; }))
        return "a diagonal entry is not positive";
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) {
            Index const i = a.row_ind[p];
            if (i != j && static_cast<Real<T>>(modulus(a.values[p])) >= root[i] * root[j])
                return "an off-diagonal entry is too large for a positive definite matrix";
        }
    return nullptr;
}

// A matrix with real values is symmetric if it is Hermitian, also if it is stored with complex numbers.
template <class T> bool has_real_values(CscMatrix<T> const& a) {
    return std::all_of(a.values.begin(), a.values.end(), [](T value) { return imag_part(value) == 0; });
}

bool fits(Factorization kind, Symmetry symmetry, bool real_values) {
    if (kind == Factorization::lu || kind == Factorization::automatic) return true;
    if (symmetry == Symmetry::general) return false;
    bool const wants_hermitian = kind == Factorization::llh || kind == Factorization::ldlh;
    return real_values || (symmetry == Symmetry::hermitian) == wants_hermitian;
}

// The name, for notes, of the symmetry that llh requires.
template <class T> constexpr char const* self_adjoint_kind = is_complex<T> ? "Hermitian" : "symmetric";

template <class T> FactorizationChoice choose(CscMatrix<T> const& a, Factorization asked) {
    bool const real_values = has_real_values(a);
    bool const self_adjoint = fits(Factorization::llh, a.symmetry, real_values);
    char const* const what = is_complex<T> ? "complex" : "real";
    if (asked != Factorization::automatic) {
        if (!fits(asked, a.symmetry, real_values))
            throw Error(Status::usage,
                        fmt::format("{} needs a {} matrix, but this one is {} {}; use lu or auto",
                                    to_string(asked),
                                    asked == Factorization::llt || asked == Factorization::ldlt ? "symmetric"
                                                                                                : "Hermitian",
                                    what, to_string(a.symmetry)));
        return {asked, fmt::format("{} as requested", to_string(asked))};
    }
    if (a.symmetry == Symmetry::general)
        return {Factorization::lu, "auto chose lu: the matrix is not stored as symmetric"};
    if (!self_adjoint) return {Factorization::ldlt, "auto chose ldlt: complex symmetric"};
    char const* const kind = self_adjoint_kind<T>;
    if (char const* const contradiction = contradiction_to_definiteness(a))
        return {indefinite_kind<T>,
                fmt::format("auto chose {}: {}, but {}", to_string(indefinite_kind<T>), kind, contradiction)};
    return {Factorization::llh, fmt::format("auto chose llh: {} with a positive diagonal", kind)};
}

} // namespace

template <class T> FactorizationChoice choose_factorization(CscMatrix<T> const& a, Options const& options) {
    FactorizationChoice choice = choose(a, options.factorization);
    if (options.factorization != Factorization::automatic) return choice;
    bool const symmetric = choice.kind != Factorization::lu;
    if (symmetric && choice.kind != Factorization::llh && !options.schur.empty() &&
        (a.symmetry == Symmetry::hermitian || !is_complex<T>))
        choice = choose(interior_block(a, options.schur), options.factorization);
    if (choice.kind == Factorization::llh && options.allow_singular)
        choice = {indefinite_kind<T>, fmt::format("auto chose {}: {} and perhaps singular",
                                                  to_string(indefinite_kind<T>), self_adjoint_kind<T>)};
    return choice;
}

template <class T>
FactorizationChoice choose_incomplete_factorization(CscMatrix<T> const& a, Options const& options) {
    FactorizationChoice choice = choose_factorization(a, options);
    if (choice.kind == Factorization::llh || choice.kind == Factorization::lu) return choice;
    if (options.factorization != Factorization::automatic)
        throw Error(Status::usage, fmt::format("method ilu needs the factorization llh, lu or auto, not {}",
                                               to_string(choice.kind)));
    return {Factorization::lu, "auto chose lu: the matrix is not positive definite"};
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template FactorizationChoice choose_incomplete_factorization<T>(CscMatrix<T> const&, Options const&);    \
    template FactorizationChoice choose_factorization<T>(CscMatrix<T> const&, Options const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
