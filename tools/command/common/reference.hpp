// The options of the command as reference texts: completions for three shells, and the sections of the manual
// page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "subcommand.hpp"

namespace espalier::command {

/// The completion of "bash", "zsh" or "fish". Error{usage} for another shell.
std::string completion(std::string_view shell, std::span<Subcommand const> subcommands);

/// `page`, in mdoc, with lines "@OPTIONS@" and "@EXIT STATUS@" replaced by what the command knows.
std::string manual_page(std::string const& page, std::span<Subcommand const> subcommands);

} // namespace espalier::command
