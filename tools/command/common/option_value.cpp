#include "option_value.hpp"

#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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

void add_text_option(CLI::App& command, std::string const& name, std::string const& placeholder,
                     std::string const& description, std::string& value) {
    add_option_value(command, name, placeholder, description,
                     [&value](std::string const& text) { value = text; });
}

void add_library_option(CLI::App& command, Options& library, std::string const& name,
                        std::string const& placeholder, std::string const& description) {
    add_option_value(command, name, placeholder, description, [name, &library](std::string const& text) {
        try {
            set_option(library, std::string_view(name).substr(2), text);
        } catch (Error const& error) { // which begins with the name of the library's option
            throw Error(error.status(), "--" + std::string(error.what()));
        }
    });
}

std::string parse_topology(std::string const& option, std::string const& text) {
    if (text.ends_with(".json"))
        throw Error(
            Status::usage,
            fmt::format("{} '{}' is a machine file, which goes with 'espalier simulate --machine' and "
                        "'espalier compare --simulate'; {} takes a file of lstopo that ends in .xml, or "
                        "a description such as 'numa:2 core:8'",
                        option, text, option));
    return text == "here" ? "" : text;
}

} // namespace espalier::command
