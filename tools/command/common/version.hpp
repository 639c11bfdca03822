// The version of this build, from the CMake project.
#pragma once

namespace espalier::command {

inline constexpr char const* version = ESPALIER_VERSION;

} // namespace espalier::command
