#include "options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "solver/parse_value.hpp"
#include "tools/command/common/option_value.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/compare/options.hpp"

namespace espalier::command {

void add_simulate_options(CLI::App& command, SimulateOptions& options) {
    add_analysis_options(command, options.run, most_simulated_threads);
    for (char const* const name :
         {"--topology", "--comm-threads", "--input", "--max-memory"}) // of a run here
        command.remove_option(command.get_option(name));
    command.get_option("--threads")->description("threads of each process [the cores of the machine]");
    add_option_value(command, "--machine", "MACHINE",
                     "a machine file (.json), which may be that of 'espalier machine --json'; a file of "
                     "'lstopo machine.xml'; or a description such as 'numa:4 core:8' [here: this machine]",
                     [&options](std::string const& text) { options.machine = text; });
    add_option_value(command, "--processes", "P", "processes, each on a machine of its own [1]",
                     [&options](std::string const& text) {
                         options.run.processes =
                             static_cast<int>(parse_count("--processes", text, 1, 1 << 20));
                     });
    add_option_value(command, "--trace", "FILE",
                     "write the simulated run as a Paje trace (compressed when FILE ends in .gz; - is "
                     "standard output)",
                     [&options](std::string const& text) { options.run.trace = text; });
}

void check(SimulateOptions const& options) {
    check(options.run);
    NamedPath const outputs[] = {{"--json", options.run.json}, {"--trace", options.run.trace}},
                    input{"--machine", is_machine_file(options.machine) ? options.machine : ""};
    refuse_same_files(outputs, {&input, 1});
}

std::string simulate_help() {
    return "Examples:\n"
           "  espalier simulate lap3d:60 --machine 'numa:4 core:8' --schedule dynamic --split 2d\n"
           "  espalier simulate a.mtx --machine cluster.json --processes 8 --threads 32 --trace run.paje\n"
           "  espalier machine --json this.json && espalier simulate a.mtx --machine this.json\n\n"
           "Nothing is factorized. The matrix is analyzed here, and the tasks of its factorization run in\n"
           "virtual time on the machine, under the same policies that threads follow. Times come from the\n"
           "cost model of this machine unless the machine file has its own; memory on another NUMA node\n"
           "takes longer, and so does memory that many threads use at once. docs/user-guide.md,\n"
           "\"Simulating a machine\", has the model, and docs/machine-file.md the file.\n";
}

} // namespace espalier::command
