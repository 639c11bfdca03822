// Options that take one value.
#pragma once

#include <functional>
#include <string>

#include "espalier/options.hpp"

namespace CLI {
class App;
}

namespace espalier::command {

/// Declare an option with one value, which may be given once and not be empty. `take` gets its text, and
/// throws Error{usage} when it is wrong; `placeholder` stands for the value in --help.
void add_option_value(CLI::App& command, std::string const& name, std::string const& placeholder,
                      std::string const& description, std::function<void(std::string const&)> const& take);

/// The same where the text is the value.
void add_text_option(CLI::App& command, std::string const& name, std::string const& placeholder,
                     std::string const& description, std::string& value);

/// The same for an option that the library has under this name: set_option takes the text.
void add_library_option(CLI::App& command, Options& library, std::string const& name,
                        std::string const& placeholder, std::string const& description);

/// The value of an option that names the machine of a run, as Options::topology: "here" is empty.
/// Error{usage} for a machine file, with which one can only simulate.
std::string parse_topology(std::string const& option, std::string const& text);

} // namespace espalier::command
