// The format of numbers in error messages.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/scalar.hpp"

namespace espalier {

/// The shortest text that identifies the value; complex values as 1+2i.
template <class T> std::string spelled(T value) {
    if constexpr (is_complex<T>)
        return fmt::format("{}{:+}i", value.real(), value.imag());
    else
        return fmt::format("{}", value);
}

} // namespace espalier
