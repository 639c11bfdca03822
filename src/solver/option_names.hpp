// The names of the options one by one, without memory: for the C interface.
#pragma once

#include <cstddef>

namespace espalier {

std::size_t num_options() noexcept;
/// k < num_options().
char const* option_name(std::size_t k) noexcept;

} // namespace espalier
