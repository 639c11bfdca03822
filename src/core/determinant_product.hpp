// A product of pivots and scales, which neither overflows nor underflows: a determinant.
#pragma once

#include <cmath>
#include <complex>

#include "core/scalar.hpp"
#include "espalier/espalier.hpp"

namespace espalier {

/// A product as phase and logarithm of its modulus. The phase of a real product is exactly +-1.
class DeterminantProduct {
  public:
    /// Multiplies `times` times by a number other than 0.
    template <class T> void multiply(T factor, int times = 1) {
        Phase const z(static_cast<double>(real_part(factor)), static_cast<double>(imag_part(factor)));
        double const modulus = std::abs(z);
        log_modulus_ += times * std::log(modulus);
        for (; times > 0; --times)
            phase_ *= z.imag() == 0 ? Phase(std::copysign(1.0, z.real())) : z / modulus;
    }
    /// Multiplies by a positive number to the power of `exponent`.
    void multiply_modulus(double factor, int exponent) { log_modulus_ += exponent * std::log(factor); }
    void multiply(DeterminantProduct const& other) {
        phase_ *= other.phase_;
        log_modulus_ += other.log_modulus_;
    }

    template <class T> [[nodiscard]] Determinant<T> result() const {
        Phase const unit = phase_ / std::abs(phase_);
        if constexpr (is_complex<T>)
            return {T(static_cast<Real<T>>(unit.real()), static_cast<Real<T>>(unit.imag())), log_modulus_};
        else
            return {T(unit.real() < 0 ? -1 : 1), log_modulus_};
    }

  private:
    using Phase = std::complex<double>;

    Phase phase_ = 1;
    double log_modulus_ = 0;
};

} // namespace espalier
