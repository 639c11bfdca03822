// The texts of --help that teach: what the command is for, examples, generators, exit codes.
#pragma once

#include <string>

namespace espalier::command {

std::string general_help();
std::string solve_help();
std::string analyze_help();
std::string generate_help();
std::string machine_help();

/// `text` broken between words into lines of at most `width` characters.
std::string wrapped(std::string const& text, std::size_t width);

} // namespace espalier::command
