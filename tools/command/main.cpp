// The espalier command: finds the subcommand, runs it, and turns every failure into one line on standard
// error and an exit code, which is the value of the Status.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/process_group.hpp"
#include "core/suggest.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/interrupt.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/processes.hpp"
#include "tools/command/common/reference.hpp"
#include "tools/command/common/subcommand.hpp"

namespace espalier::command {

namespace {

// The message stays one line whatever the names in it contain.
int fail(Status status, std::string message) {
    for (char& c : message)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    print_error(status, message);
    return static_cast<int>(status);
}

// The help with single empty lines between its groups.
std::string without_empty_pairs(std::string text) {
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
    return text;
}

std::string general_help() {
    return R"(Examples:
  espalier solve matrix.mtx                       A x = b with b = ones; a report
  espalier solve lap3d:60 --threads 2             the 7-point Laplacian on a 60^3 grid
  espalier solve a.mtx.gz --rhs b.mtx --output x.mtx --json report.json
  espalier analyze matrix.rb                      fill, work and memory; nothing is factorized
  espalier generate elast3d:20 --output k.mtx.gz  a test matrix
'espalier solve --help' explains every option.

)" + exit_codes();
}

// The parser of all subcommands.
class Parser {
  public:
    Parser() {
        app_.get_formatter()->column_width(30);
        app_.set_version_flag("--version", fmt::format("espalier {}", ESPALIER_VERSION), "print the version");
        app_.set_help_flag("--help,-h", "print this help");
        app_.require_subcommand(1);
        app_.footer(general_help);
        for (Subcommand& one : commands_) declare(one);
        declare_references();
    }

    // Returns the exit code.
    int run(int argc, char** argv) {
        std::string_view const word = argc > 1 ? argv[1] : "";
        try {
            parse(argc, argv, word);
            if (chosen_) chosen_->check();
        } catch (CLI::CallForHelp const&) {
            return finish(without_empty_pairs(app_.help()));
        } catch (CLI::CallForVersion const& e) {
            return finish(std::string(e.what()) + "\n");
        } catch (Error const& e) {
            return fail(e.status(), e.status() == Status::usage ? misuse(word, e.what()) : e.what());
        }
        if (!reference_.empty()) return finish(reference_);
        chosen_->run();
        return finish("");
    }

  private:
    void declare(Subcommand& one) {
        CLI::App& sub = *app_.add_subcommand(one.name, one.summary);
        sub.set_help_flag();
        OptionSet options(sub);
        one.declare(options);
        sub.set_help_flag("--help,-h", "print this help")->group("Output");
        sub.footer(one.help);
        sub.callback([this, &one] { chosen_ = &one; });
        one.options = options.declared();
    }

    // Subcommands for the build and for packages, which the help does not list.
    void declare_references() {
        for (char const* const name : {"completion", "manual"}) {
            CLI::App& sub = *app_.add_subcommand(name)->group("");
            sub.add_option(name == std::string_view("manual") ? "TEMPLATE" : "SHELL", argument_)->required();
        }
        app_.get_subcommand("completion")->callback([this] {
            reference_ = completion(argument_, commands_);
        });
        app_.get_subcommand("manual")->callback([this] {
            std::ifstream file(argument_);
            std::string const page(std::istreambuf_iterator<char>(file), {});
            if (!file || page.empty())
                throw Error(Status::io_error, fmt::format("{}: cannot read the template", argument_));
            reference_ = manual_page(page, commands_);
        });
    }

    void parse(int argc, char** argv, std::string_view word) {
        try {
            app_.parse(argc, argv);
        } catch (CLI::Success const&) { // the help or the version was asked for
            throw;
        } catch (CLI::ParseError const& e) {
            throw Error(Status::usage, explain(e, word));
        }
    }

    static int finish(std::string const& text) {
        print(text);
        check_stdout();
        return static_cast<int>(Status::ok);
    }

    [[nodiscard]] Subcommand const* find(std::string_view word) const {
        auto const found = std::ranges::find(commands_, word, &Subcommand::name);
        return found == commands_.end() ? nullptr : &*found;
    }

    // Returns a message that says what is wrong on the command line. It replaces the message of the parser.
    std::string explain(CLI::ParseError const& error, std::string_view word) {
        Subcommand const* const subcommand = find(word);
        CLI::App& app = subcommand ? *app_.get_subcommand(subcommand->name) : app_;
        std::vector<std::string> const rest = app.remaining();
        auto const is_option = [](std::string const& text) { return text.starts_with('-'); };
        if (auto const option = std::ranges::find_if(rest, is_option); option != rest.end())
            return unknown_option(option->substr(0, option->find('=')), subcommand);
        if (!rest.empty()) return fmt::format("unexpected argument '{}'", rest.front());
        std::string const text = error.what();
        if (!dynamic_cast<CLI::ArgumentMismatch const*>(&error)) return text;
        if (CLI::Option* const option = app.get_option_no_throw(text.substr(0, text.find(':')))) {
            option->clear();
            option->add_result("");
            option->run_callback(); // throws an error that says which value is missing
        }
        return fmt::format("--{} takes no value", text.substr(0, text.find(' ')));
    }

    // Names a similar option, or the subcommands that have this one.
    [[nodiscard]] std::string unknown_option(std::string const& option, Subcommand const* subcommand) const {
        std::vector<std::string> names;
        std::vector<std::string_view> owners;
        for (Subcommand const& one : commands_)
            for (OptionText const& known : one.options) {
                if (&one == subcommand) names.push_back(known.long_name());
                if (known.long_name() == option) owners.push_back(one.name);
            }
        if (!subcommand) return fmt::format("expected a command, not '{}'", option);
        if (!owners.empty())
            return fmt::format("{} has no option '{}'; {} {} it", subcommand->name, option,
                               fmt::join(owners, ", "), owners.size() == 1 ? "has" : "have");
        return fmt::format("unknown option '{}'{}", option,
                           did_you_mean(option, std::vector<std::string_view>(names.begin(), names.end())));
    }

    // The message of an error of usage, with a hint at the help.
    [[nodiscard]] std::string misuse(std::string_view word, std::string message) const {
        std::vector<std::string_view> names;
        for (Subcommand const& one : commands_) names.push_back(one.name);
        bool const known = find(word) != nullptr;
        if (word.empty())
            message = fmt::format("no command given; the commands are {}", fmt::join(names, ", "));
        else if (!known && word.front() != '-' && reference_.empty())
            message = fmt::format("unknown command '{}'{}; the commands are {}", word,
                                  did_you_mean(word, names), fmt::join(names, ", "));
        return fmt::format("{}; try 'espalier {}{}--help'", message, known ? word : "", known ? " " : "");
    }

    CLI::App app_{"Sparse direct solver for A x = b", "espalier"};
    std::vector<Subcommand> commands_{solve_command(),    analyze_command(),  compare_command(),
                                      simulate_command(), generate_command(), trace_command(),
                                      machine_command(),  dense_command()};
    Subcommand const* chosen_ = nullptr;
    std::string argument_;
    std::string reference_; ///< The text asked for in place of a run.
};

// The error boundary: no exception passes it.
template <class Body> int guarded(Body const& body) noexcept {
    try {
        try {
            return body();
        } catch (Error const& e) {
            return fail(e.status(), e.what());
        } catch (std::bad_alloc const&) {
            return fail(Status::out_of_memory, "out of memory");
        } catch (std::exception const& e) {
            return fail(Status::internal, e.what());
        }
    } catch (...) { // no memory for the message
        print_lack_of_memory();
        return static_cast<int>(Status::out_of_memory);
    }
}

// Ends the process without the destructors of libraries. That of OpenBLAS waits for its threads, which never
// end if the system refuses the memory that they ask for at their start. Sanitizers look for leaks at the
// usual end.
int leave(int code) {
    std::fflush(nullptr);
#ifndef ESPALIER_SANITIZED
    std::_Exit(code);
#endif
    return code;
}

} // namespace

} // namespace espalier::command

int main(int argc, char** argv) {
    using namespace espalier;
    int const exit_code = command::guarded([&] {
        command::watch_signals();
        ProcessGroup const processes(&argc, &argv);
        command::set_processes(processes.world());
        if (processes.rank() != 0) {
            command::stay_silent();
            return command::guarded(command::follow_process_0);
        }
        // Errors are printed before the group ends: a launcher ends the other processes when the first one
        // exits.
        int const code = command::guarded([&] { return command::Parser().run(argc, argv); });
        command::end_processes(code);
        return code;
    });
    return command::leave(exit_code);
}
