// The options of the command as reference texts: completions for three shells, and the sections of the manual
// page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "option_set.hpp"

namespace espalier::command {

/// A subcommand as the texts show it.
struct SubcommandFacts {
    std::string name;
    std::string summary;
    std::vector<OptionText> options;
    std::string positional_choices; ///< Words for the positional argument, separated by spaces.
    bool takes_file = true;         ///< The positional argument is a file.
};

/// The completion of "bash", "zsh" or "fish". Error{usage} for another shell.
std::string completion(std::string_view shell, std::span<SubcommandFacts const> subcommands);

/// `page`, in mdoc, with lines "@OPTIONS@" and "@EXIT STATUS@" replaced by what the command knows.
std::string manual_page(std::string const& page, std::span<SubcommandFacts const> subcommands);

} // namespace espalier::command
