#include "option_value.hpp"

#include <vector>

#include <CLI/CLI.hpp>

#include "espalier/types.hpp"
#include "help.hpp"

namespace espalier::command {

void add_option_value(CLI::App& command, std::string const& name, std::string const& placeholder,
                      std::string const& description, std::function<void(std::string const&)> const& take) {
    auto const take_given = [name, take](std::vector<std::string> const& texts) {
        if (texts.size() > 1) throw Error(Status::usage, name + " is given more than once");
        if (texts.empty() || texts.front().empty()) throw Error(Status::usage, name + " needs a value");
        take(texts.front());
    };
    command.add_option_function<std::vector<std::string>>(name, take_given, wrapped(description, 76))
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(placeholder);
}

} // namespace espalier::command
