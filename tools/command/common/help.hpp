// Parts of the help that several subcommands print after their options.
#pragma once

#include <string>
#include <string_view>

#include "espalier/types.hpp"

namespace espalier::command {

/// A table of the exit codes.
std::string exit_codes();
/// A table of the generators of test matrices.
std::string generators();
/// The meaning of the exit code of a status.
std::string_view status_meaning(Status status);

} // namespace espalier::command
