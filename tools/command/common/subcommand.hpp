// A subcommand of the command: its name, its options, what it checks and what it does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "option_set.hpp"

namespace espalier::command {

struct Subcommand {
    std::string name;
    std::string summary;               ///< One line of the general help.
    std::function<std::string()> help; ///< What follows the options in the help: examples and explanations.
    std::function<void(OptionSet&)> declare; ///< Declares the options.
    std::function<void()> check;             ///< Checks the options together. Error{usage}, {io_error}.
    std::function<void()> run;         ///< Prints, writes the files, and throws Error for every failure.
    std::string positional_choices{};  ///< Words that the shell completes in place of file names.
    bool takes_file = true;            ///< The positional argument is a file.
    std::vector<OptionText> options{}; ///< As declared.
};

/// `Given` holds the options of the subcommand; declare(set, given), check(given) and run(given) share one.
template <class Given, class Declare, class Check, class Run>
Subcommand make_subcommand(std::string name, std::string summary, std::string (*help)(), Declare declare,
                           Check check, Run run) {
    auto const given = std::make_shared<Given>();
    return {std::move(name),
            std::move(summary),
            help,
            [=](OptionSet& set) { declare(set, *given); },
            [=] { check(static_cast<Given const&>(*given)); },
            [=] { run(static_cast<Given const&>(*given)); }};
}

// In the order of the help.
Subcommand solve_command();
Subcommand analyze_command();
Subcommand compare_command();
Subcommand simulate_command();
Subcommand generate_command();
Subcommand trace_command();
Subcommand machine_command();
Subcommand dense_command();

} // namespace espalier::command
