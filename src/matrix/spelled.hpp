// Numbers as error messages show them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/scalar.hpp"

namespace espalier {

/// As many digits as it takes to tell the value apart; complex ones as 1+2i.
template <class T> std::string spelled(T value) {
    if constexpr (is_complex<T>)
        return fmt::format("{}{:+}i", value.real(), value.imag());
    else
        return fmt::format("{}", value);
}

} // namespace espalier
