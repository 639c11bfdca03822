#include "factor/pivots.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/permutation_parity.hpp"
#include "kernels/pivot_block.hpp"

namespace espalier {

namespace {

// Calls visit(k) for each cblk that has pivots in this process.
template <class T, class Visit> void for_each_eliminated(Factor<T> const& factor, Visit const& visit) {
    for (CblkId k = 0; k < factor.structure().first_kept_cblk; ++k)
        if (factor.has_panel(k)) visit(k);
}

// Calls single(d) for each 1x1 pivot and pair(block) for each 2x2 pivot of the diagonal block of cblk k.
template <class T, class Single, class Pair>
void for_each_pivot(Factor<T> const& factor, CblkId k, Single const& single, Pair const& pair) {
    auto const d = factor.diagonal(k);
    for (Index j = 0; j < d.cols; ++j) {
        T const d10 = factor.form().has_d() ? factor.off_diagonal(k)[j] : T(0);
        if (d10 == T(0)) {
            single(d(j, j));
        } else {
            pair(pivot_block(factor.form().conjugate(), d(j, j), d10, d(j + 1, j + 1)));
            ++j;
        }
    }
}

} // namespace

template <class T> PivotRange pivot_range(Factor<T> const& factor, CblkId k, std::span<double const> origin) {
    bool const cholesky = !factor.form().has_d() && !factor.form().has_upper();
    PivotRange range;
    Index column = factor.cblk(k).first_col;
    auto const count = [&](double small, double large) {
        double const from = origin.empty() ? 1 : origin[factor.structure().inverse[column++]];
        range += {from > 0 ? small / from : 0.0, from > 0 ? large / from : 0.0};
    };
    auto const single = [&](T d) {
        double const modulus = std::abs(d), pivot = cholesky ? modulus * modulus : modulus;
        count(pivot, pivot);
    };
    for_each_pivot(factor, k, single, [&](PivotBlock<T> const& d) {
        double const large = std::max<double>({std::abs(d.d00), std::abs(d.d10), std::abs(d.d11)});
        count(std::abs(d.d00 * d.d11 - d.d10 * d.d01) / large, large);
    });
    return range;
}

template <class T> PivotRange pivot_range(Factor<T> const& factor, std::span<double const> origin) {
    PivotRange range;
    for_each_eliminated(factor, [&](CblkId k) { range += pivot_range(factor, k, origin); });
    return range;
}

void refuse_inertia(Factorization kind, bool of_complex) {
    throw Error(Status::usage,
                fmt::format("the inertia is not available from {}{}; it needs ldlh, llh or real ldlt",
                            to_string(kind), of_complex ? " of a complex matrix" : ""));
}

template <class T> Inertia pivot_signs(Factor<T> const& factor) {
    FactorForm const form = factor.form();
    if (form.has_upper() || (is_complex<T> && !form.conjugate())) refuse_inertia(form.kind, is_complex<T>);
    Inertia signs;
    for_each_eliminated(factor, [&](CblkId k) {
        if (!form.has_d()) {
            signs.positive += factor.cblk(k).width();
            return;
        }
        for_each_pivot(
            factor, k,
            [&](T d) {
                if (std::abs(d) <= factor.pivot_threshold())
                    ++signs.zero;
                else
                    ++(real_part(d) > 0 ? signs.positive : signs.negative);
            },
            [&](PivotBlock<T> const& d) { // such a pivot is never replaced
                int const negative = num_negative(d);
                signs.negative += negative;
                signs.positive += 2 - negative;
            });
    });
    return signs;
}

template <class T> DeterminantProduct pivot_product(Factor<T> const& factor) {
    FactorForm const form = factor.form();
    bool const cholesky = !form.has_d() && !form.has_upper(); // det = det(L)^2
    DeterminantProduct product;
    for_each_eliminated(factor, [&](CblkId k) {
        DelayedPanel<T> const* const delayed = factor.delayed(k);
        if (form.has_upper() && (delayed ? delayed->is_odd() : is_odd(factor.perm(k))))
            product.multiply(-1.0);
        for_each_pivot(
            factor, k, [&](T d) { product.multiply(d, cholesky ? 2 : 1); },
            [&](PivotBlock<T> const& d) { // d is scaled by |d10|, which is its largest entry or nearly so
                Real<T> const scale = std::abs(d.d10);
                product.multiply_modulus(static_cast<double>(scale), 2);
                T const determinant = d.d00 / scale * (d.d11 / scale) - d.d10 / scale * (d.d01 / scale);
                product.multiply(form.conjugate() ? T(real_part(determinant)) : determinant);
            });
    });
    return product;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template PivotRange pivot_range<T>(Factor<T> const&, CblkId, std::span<double const>);                   \
    template PivotRange pivot_range<T>(Factor<T> const&, std::span<double const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_FUNCTION(pivot_signs)
ESPALIER_INSTANTIATE_FUNCTION(pivot_product)

} // namespace espalier
