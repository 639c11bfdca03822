// Numbers of bytes in messages.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "runtime/topology.hpp"

namespace espalier {

/// "1 byte", "15168 bytes (14.8 KiB)".
inline std::string exact_bytes(std::uint64_t bytes) {
    std::string const exact = counted(static_cast<std::int64_t>(bytes), "byte");
    return bytes < 1024 ? exact : fmt::format("{} ({})", exact, format_bytes(bytes));
}

} // namespace espalier
