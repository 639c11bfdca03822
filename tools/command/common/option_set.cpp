#include "option_set.hpp"

#include <algorithm>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::command {

namespace {

constexpr std::size_t help_width = 76;

} // namespace

bool OptionText::takes_file() const {
    return placeholder.find("FILE") != std::string::npos || placeholder.find("MACHINE") != std::string::npos;
}

std::string OptionText::long_name() const {
    return name.substr(name.find("--"));
}

std::string OptionText::summary() const {
    return help.substr(0, std::min({help.find(" ["), help.find(" ("), help.find(';')}));
}

void OptionSet::remember(OptionText text, CLI::Option* option) {
    option->group(group_);
    declared_.push_back(std::move(text));
}

void OptionSet::positional(std::string const& name, std::string const& help, std::string& value) {
    app_.add_option(name, value, wrapped(help, help_width))->required()->type_name("");
}

void OptionSet::positional(std::string const& name, std::string const& help,
                           std::vector<std::string>& words) {
    app_.add_option(name, words, wrapped(help, help_width))->required()->type_name("");
}

void OptionSet::flag(OptionText text, bool& value) {
    auto* const option = app_.add_flag(text.name, value, wrapped(text.help, help_width));
    option->disable_flag_override();
    remember(std::move(text), option);
}

void OptionSet::value(OptionText text, std::function<void(std::string const&)> const& take, bool repeats) {
    auto const take_given = [text, take, repeats](std::vector<std::string> const& given) {
        if (given.size() > 1 && !repeats)
            throw Error(Status::usage, fmt::format("{} is given more than once", text.long_name()));
        for (std::string const& one : given) {
            // An option in place of a value means that the value was forgotten.
            bool const is_missing = one.empty() || one.starts_with("--");
            take(is_missing ? "" : one); // most options throw an error here that names the accepted values
            if (is_missing)
                throw Error(Status::usage,
                            fmt::format("{} needs a value: {}", text.long_name(), text.placeholder));
        }
    };
    auto* const option = app_.add_option_function<std::vector<std::string>>(text.name, take_given,
                                                                            wrapped(text.help, help_width));
    option->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(text.placeholder);
    remember(std::move(text), option);
}

void OptionSet::text(OptionText text, std::string& value) {
    this->value(std::move(text), [&value](std::string const& given) { value = given; });
}

void OptionSet::choice(OptionText text, std::span<char const* const> choices,
                       std::function<void(std::size_t)> const& take) {
    text.choices.assign(choices.begin(), choices.end());
    std::size_t const fallback = std::min(text.help.rfind(" ["), text.help.size());
    text.help.insert(fallback, fmt::format(" ({})", fmt::join(text.choices, ", ")));
    value(text, [name = text.name, choices, take](std::string const& given) {
        take(parse_choice(name, given, choices));
    });
}

void OptionSet::library(Options& options, OptionRow const& row) {
    group(row.group);
    OptionText text{fmt::format("--{}", row.name), std::string(row.placeholder), row.description(), {}};
    if (row.type == OptionType::flag) {
        auto* const option = app_.add_flag_function(
            text.name, [&options, row](std::int64_t count) { row.set_index(options, count > 0 ? 1 : 0); },
            wrapped(text.help, help_width));
        option->disable_flag_override();
        return remember(std::move(text), option);
    }
    text.choices.assign(row.choices.begin(), row.choices.end());
    value(text, [&options, row](std::string const& given) {
        try {
            row.set(options, row, given);
        } catch (Error const& error) { // the message begins with the name
            throw Error(error.status(), fmt::format("--{}", error.what()));
        }
    });
}

void OptionSet::library(Options& options, unsigned subcommand) {
    for (OptionRow const& row : option_table())
        if ((row.subcommands & subcommand) != 0) library(options, row);
}

std::string wrapped(std::string const& text, std::size_t width) {
    std::istringstream words(text);
    std::string result;
    std::size_t column = 0;
    for (std::string word; words >> word; column += word.size()) {
        if (column > 0 && column + 1 + word.size() > width) {
            result += '\n';
            column = 0;
        } else if (column > 0) {
            result += ' ';
            ++column;
        }
        result += word;
    }
    return result;
}

} // namespace espalier::command
