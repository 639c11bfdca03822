// Options that take one value.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace espalier::command {

/// Declare an option with one value, which may be given once and not be empty. `take` gets its text, and
/// throws Error{usage} when it is wrong; `placeholder` stands for the value in --help.
void add_option_value(CLI::App& command, std::string const& name, std::string const& placeholder,
                      std::string const& description, std::function<void(std::string const&)> const& take);

} // namespace espalier::command
