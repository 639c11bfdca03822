// The espalier command: finds the subcommand, runs it, and turns every failure into one line on standard
// error and an exit code, which is the value of the Status.
#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "comm/process_group.hpp"
#include "commands.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/interrupt.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/processes.hpp"
#include "tools/command/common/version.hpp"
#include "tools/command/trace/options.hpp"

namespace espalier::command {

namespace {

constexpr std::array<std::string_view, 8> names = {"solve",    "analyze", "compare", "simulate",
                                                   "generate", "trace",   "machine", "dense"};

template <std::size_t count>
bool is_one_of(std::array<std::string_view, count> const& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// Names in the message may hold anything; the message stays one line.
int fail(Status status, std::string message) {
    for (char& c : message)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    print_error(status, message);
    return static_cast<int>(status);
}

struct Parsed {
    RunOptions run;
    CompareOptions compare;
    SimulateOptions simulate;
    GenerateOptions generate;
    TraceOptions trace;
    MachineOptions machine;
    DenseOptions dense;
};

// Ways into the program, in the order of --help.
void declare(CLI::App& app, Parsed& parsed) {
    app.get_formatter()->column_width(30);
    app.set_version_flag("--version", fmt::format("espalier {}", version), "print the version");
    app.set_help_flag("--help,-h", "print this help");
    app.require_subcommand(1);
    app.footer(general_help);

    CLI::App& solve = *app.add_subcommand("solve", "analyze, factor, solve, refine, report");
    add_analysis_options(solve, parsed.run);
    add_solve_options(solve, parsed.run);
    add_report_options(solve, parsed.run);
    solve.footer(solve_help);

    CLI::App& analyze =
        *app.add_subcommand("analyze", "everything before numbers: ordering, structure, memory");
    add_analysis_options(analyze, parsed.run);
    add_prediction_options(analyze, parsed.run);
    add_report_options(analyze, parsed.run);
    analyze.footer(analyze_help);

    CLI::App& compare = *app.add_subcommand("compare", "the same work under several settings: a table");
    add_compare_options(compare, parsed.compare);
    add_analysis_options(compare, parsed.compare.run, most_simulated_threads);
    add_system_options(compare, parsed.compare.run);
    compare.footer(compare_help);

    CLI::App& simulate = *app.add_subcommand("simulate", "the factorization on a machine that is not here");
    add_simulate_options(simulate, parsed.simulate);
    add_report_options(simulate, parsed.simulate.run);
    simulate.footer(simulate_help);

    CLI::App& generate = *app.add_subcommand("generate", "write a test matrix");
    add_generate_options(generate, parsed.generate);
    generate.footer(generate_help);

    CLI::App& trace =
        *app.add_subcommand("trace", "statistics and pictures of a trace: tasks, idle time, critical path");
    add_trace_options(trace, parsed.trace);
    trace.footer(trace_help);

    CLI::App& machine = *app.add_subcommand("machine", "topology, memory, BLAS and its speed");
    add_machine_options(machine, parsed.machine);
    machine.footer(machine_help);

    CLI::App& dense = *app.add_subcommand("dense", "tiled dense Cholesky or QR, to try schedules");
    add_dense_options(dense, parsed.dense);
    dense.footer(dense_help);
}

void dispatch(CLI::App const& app, Parsed const& parsed) {
    if (app.got_subcommand("compare")) return compare(parsed.compare);
    if (app.got_subcommand("simulate")) return simulate(parsed.simulate);
    if (app.got_subcommand("generate")) return generate(parsed.generate);
    if (app.got_subcommand("trace")) return trace(parsed.trace);
    if (app.got_subcommand("machine")) return machine(parsed.machine);
    if (app.got_subcommand("dense")) return dense(parsed.dense);
    if (app.got_subcommand("analyze")) return analyze(parsed.run);
    solve(parsed.run);
}

// What a misuse message ends with: where the right use is explained.
std::string hint(std::string_view word) {
    bool const known = is_one_of(names, word);
    return fmt::format("; try 'espalier {}{}--help'", known ? word : "", known ? " " : "");
}

std::string misuse(std::string_view word, std::string message) {
    if (word.empty())
        message = "no command given: solve, analyze, compare, simulate, generate, trace, machine or dense";
    else if (!is_one_of(names, word) && word.front() != '-')
        message = fmt::format("unknown command '{}': there are solve, analyze, compare, simulate, generate, "
                              "trace, machine and dense",
                              word);
    return message + hint(word);
}

int run(int argc, char** argv) {
    std::string_view const word = argc > 1 ? argv[1] : "";
    CLI::App app("Sparse direct solver for A x = b", "espalier");
    Parsed parsed;
    declare(app, parsed);
    try {
        app.parse(argc, argv);
        if (app.got_subcommand("solve") || app.got_subcommand("analyze")) check(parsed.run);
        if (app.got_subcommand("compare")) check(parsed.compare);
        if (app.got_subcommand("simulate")) check(parsed.simulate);
        if (app.got_subcommand("trace")) check(parsed.trace);
        if (app.got_subcommand("machine")) check(parsed.machine);
        if (app.got_subcommand("dense")) check(parsed.dense);
    } catch (CLI::CallForHelp const&) {
        print(app.help());
        return check_stdout(), 0;
    } catch (CLI::CallForVersion const& e) {
        print(std::string(e.what()) + "\n");
        return check_stdout(), 0;
    } catch (CLI::ParseError const& e) {
        return fail(Status::usage, misuse(word, e.what()));
    } catch (Error const& e) {
        return fail(e.status(), e.status() == Status::usage ? misuse(word, e.what()) : e.what());
    }
    dispatch(app, parsed);
    check_stdout();
    return static_cast<int>(Status::ok);
}

// The error boundary: nothing gets past it.
int guarded(std::function<int()> const& body) {
    try {
        return body();
    } catch (Error const& e) {
        return fail(e.status(), e.what());
    } catch (std::bad_alloc const&) {
        return fail(Status::out_of_memory, "out of memory");
    } catch (std::exception const& e) {
        return fail(Status::internal, e.what());
    }
}

} // namespace

} // namespace espalier::command

int main(int argc, char** argv) {
    using namespace espalier;
    return command::guarded([&] {
        command::watch_signals();
        ProcessGroup const processes(&argc, &argv);
        command::set_processes(processes.world());
        if (processes.rank() != 0) {
            command::stay_silent();
            return command::guarded(command::follow_process_0);
        }
        // Errors are told before the group is left: a launcher ends the others when the first one is gone.
        int const code = command::guarded([&] { return command::run(argc, argv); });
        command::end_processes(code);
        return code;
    });
}
