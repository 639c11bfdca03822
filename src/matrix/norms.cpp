#include "matrix/norms.hpp"

#include <cmath>

namespace espalier {

template <class T> double infinity_norm(std::span<T const> x) {
    double largest = 0;
    for (T const value : x) {
        double const size = modulus(value);
        if (size > largest || std::isnan(size)) largest = size; // a NaN is kept: nothing compares above it
    }
    return largest;
}

#define ESPALIER_INSTANTIATE(T) template double infinity_norm(std::span<T const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
