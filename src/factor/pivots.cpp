#include "factor/pivots.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>

#include "kernels/pivot_block.hpp"

namespace espalier {

namespace {

using Phase = std::complex<double>;

bool is_ghost(BlockStructure const& structure, Cblk const& cblk) {
    return structure.inverse[cblk.first_col] < 0;
}

// Calls single(d) for each 1x1 pivot and pair(block) for each 2x2 pivot of the diagonal block of cblk k.
template <class T, class Single, class Pair>
void for_each_pivot(Pivots<T> const& pivots, Cblk const& cblk, Single const& single, Pair const& pair) {
    for (Index j = cblk.first_col; j < cblk.end_col; ++j) {
        T const d10 = pivots.form.has_d() ? pivots.off_diagonal[j] : T(0);
        if (d10 == T(0)) {
            single(pivots.diagonal[j]);
        } else {
            pair(pivot_block(pivots.form.conjugate(), pivots.diagonal[j], d10, pivots.diagonal[j + 1]));
            ++j;
        }
    }
}

// Each cycle of even length is odd.
bool is_odd(std::span<std::int32_t const> perm) {
    std::vector<bool> seen(perm.size(), false);
    bool odd = false;
    for (std::int32_t start = 0; start < std::ssize(perm); ++start)
        for (std::int32_t i = start; !seen[i];) {
            seen[i] = true;
            i = perm[i];
            if (i != start) odd = !odd;
        }
    return odd;
}

// A product as phase and logarithm of the modulus; the phase of a real product is exactly +-1.
class Product {
  public:
    template <class T> void multiply(T factor, int times = 1) {
        Phase const z(static_cast<double>(real_part(factor)), static_cast<double>(imag_part(factor)));
        double const modulus = std::abs(z);
        log_modulus_ += times * std::log(modulus);
        for (; times > 0; --times)
            phase_ *= z.imag() == 0 ? Phase(std::copysign(1.0, z.real())) : z / modulus;
    }
    void multiply_modulus(double factor, int times) { log_modulus_ += times * std::log(factor); }

    template <class T> [[nodiscard]] PivotProduct<T> result() const {
        Phase const unit = phase_ / std::abs(phase_);
        if constexpr (is_complex<T>)
            return {T(static_cast<Real<T>>(unit.real()), static_cast<Real<T>>(unit.imag())), log_modulus_};
        else
            return {T(unit.real() < 0 ? -1 : 1), log_modulus_};
    }

  private:
    Phase phase_ = 1;
    double log_modulus_ = 0;
};

} // namespace

template <class T> Pivots<T> pivots_of(Factor<T> const& factor) {
    Index const n = factor.structure().n;
    Pivots<T> pivots{factor.form(),      factor.pivot_threshold(), std::vector<T>(n, T(0)), {}, {},
                     &factor.structure()};
    if (factor.form().has_d()) pivots.off_diagonal.assign(n, T(0));
    if (factor.form().has_upper()) pivots.perm.assign(n, 0);
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        if (!factor.has_panel(k)) continue;
        auto const block = factor.diagonal(k);
        Index const first = factor.cblk(k).first_col;
        for (Index j = 0; j < block.cols; ++j) pivots.diagonal[first + j] = block(j, j);
        auto const copy = [&](auto const& from, auto& to) {
            std::copy(from.begin(), from.end(), to.begin() + first);
        };
        if (factor.form().has_d()) copy(factor.off_diagonal(k), pivots.off_diagonal);
        if (factor.form().has_upper()) copy(factor.perm(k), pivots.perm);
    }
    return pivots;
}

template <class T> PivotSigns pivot_signs(Pivots<T> const& pivots) {
    FactorForm const form = pivots.form;
    if (form.has_upper() || (is_complex<T> && !form.conjugate()))
        throw Error(Status::usage, std::string("the pivots of ") + to_string(form.kind) +
                                       (is_complex<T> ? " of a complex matrix" : "") +
                                       " have no signs to count");
    PivotSigns signs;
    for (CblkId k = 0; k < pivots.structure->first_kept_cblk; ++k) {
        Cblk const& cblk = pivots.structure->cblk(k);
        if (is_ghost(*pivots.structure, cblk)) continue;
        if (!form.has_d()) {
            signs.positive += cblk.width();
            continue;
        }
        for_each_pivot(
            pivots, cblk,
            [&](T d) {
                if (std::abs(d) <= pivots.threshold)
                    ++signs.zero;
                else
                    ++(real_part(d) > 0 ? signs.positive : signs.negative);
            },
            [&](PivotBlock<T> const&) { // never replaced, and indefinite: |d00 d11| < |d10|^2
                ++signs.positive;
                ++signs.negative;
            });
    }
    return signs;
}

template <class T> PivotProduct<T> pivot_product(Pivots<T> const& pivots) {
    FactorForm const form = pivots.form;
    bool const cholesky = !form.has_d() && !form.has_upper(); // det = det(L)^2
    Product product;
    for (CblkId k = 0; k < pivots.structure->first_kept_cblk; ++k) {
        Cblk const& cblk = pivots.structure->cblk(k);
        if (is_ghost(*pivots.structure, cblk)) continue;
        auto const* const perm = pivots.perm.data();
        if (form.has_upper() && is_odd({perm + cblk.first_col, perm + cblk.end_col})) product.multiply(-1.0);
        for_each_pivot(
            pivots, cblk, [&](T d) { product.multiply(d, cholesky ? 2 : 1); },
            [&](PivotBlock<T> const& d) { // scaled by |d10|, which is its largest entry or nearly so
                Real<T> const scale = std::abs(d.d10);
                product.multiply_modulus(static_cast<double>(scale), 2);
                T const determinant = d.d00 / scale * (d.d11 / scale) - d.d10 / scale * (d.d01 / scale);
                product.multiply(form.conjugate() ? T(real_part(determinant)) : determinant);
            });
    }
    return product.result<T>();
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Pivots<T> pivots_of<T>(Factor<T> const&);                                                       \
    template PivotSigns pivot_signs<T>(Pivots<T> const&);                                                    \
    template PivotProduct<T> pivot_product<T>(Pivots<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
