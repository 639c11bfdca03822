#include "options.hpp"

#include <cerrno>
#include <initializer_list>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "generators/generators.hpp"
#include "solver/parse_value.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/option_value.hpp"
#include "tools/command/common/output_file.hpp"

namespace espalier::command {

namespace {

// The value whose spelling is `text`.
template <class Enum>
Enum choice(std::string_view option, std::string_view text, std::initializer_list<Enum> values) {
    std::string spellings;
    for (Enum const value : values) {
        if (text == to_string(value)) return value;
        spellings += (spellings.empty() ? "" : ", ") + std::string(to_string(value));
    }
    throw Error(Status::usage, fmt::format("{} has no value '{}'; it has {}", option, text, spellings));
}

void take_ordering(Options& options, std::string const& text) {
    for (auto const method :
         {OrderingMethod::scotch, OrderingMethod::metis, OrderingMethod::amd, OrderingMethod::natural})
        if (text == to_string(method)) {
            options.ordering = method;
            return;
        }
    options.ordering = OrderingMethod::user;
    options.ordering_file = text;
}

} // namespace

void add_policy_options(CLI::App& command, Options& library) {
    add_option_value(
        command, "--schedule", "POLICY",
        "who runs which task: static (lists made beforehand), dynamic (a tree of queues), places or nas "
        "(queues by core and NUMA node) [static]",
        [&library](std::string const& text) {
            using enum SchedulePolicy;
            library.schedule = choice("--schedule", text, {static_order, dynamic_tree, places, nas});
        });
    add_library_option(
        command, library, "--push-init", "WHERE",
        "places: first tasks go to the NUMA nodes in turn or at random: cyclicnuma, randnuma [cyclicnuma]");
    add_library_option(command, library, "--push", "WHERE",
                       "places: where a ready task goes: pLoc, pLocNum, pNumaW or pNumaWLoc [pNumaWLoc]");
    add_library_option(
        command, library, "--select", "WHOM",
        "places: whom an idle thread steals from: sRand, sRandNuma, sProc, sNuma, sProcNuma or sNumaProc "
        "[sNumaProc]");
    command.add_flag("--strict", library.strict,
                     wrapped("dynamic, places, nas: no stealing across NUMA nodes", 76));
    add_library_option(command, library, "--seed", "N", "places: of random choices [0]");
}

void add_schedule_options(CLI::App& command, Options& library) {
    add_policy_options(command, library);
    add_option_value(
        command, "--split", "KIND",
        "1d: a column block is one task; 2d: wide ones that several threads are candidates for are cut into "
        "groups of rows [1d]",
        [&library](std::string const& text) {
            library.splitting = choice("--split", text, {Splitting::one_d, Splitting::two_d});
        });
    add_library_option(command, library, "--split-width", "COLUMNS",
                       "2d: column blocks of at least so many columns are cut [96]");
    add_library_option(command, library, "--split-rows", "ROWS",
                       "2d: into groups of at least so many rows [384]");
}

void add_analysis_options(CLI::App& command, RunOptions& run, int most_threads) {
    Options& library = run.library;
    command
        .add_option("MATRIX", run.matrix,
                    wrapped("Matrix Market, Rutherford-Boeing or Harwell-Boeing file "
                            "(also .gz), or a generator such as lap3d:60",
                            76))
        ->required()
        ->type_name("");
    add_option_value(
        command, "--factorization", "KIND",
        "auto, llh, llt, ldlt, ldlh or lu [auto: from the symmetry and the diagonal]",
        [&library](std::string const& text) {
            using enum Factorization;
            library.factorization = choice("--factorization", text, {automatic, llh, llt, ldlt, ldlh, lu});
        });
    auto const add_toggle = [&command](std::string const& name, std::string const& description,
                                       Toggle& value) {
        add_option_value(command, name, "WHEN", description, [name, &value](std::string const& text) {
            value = choice(name, text, {Toggle::automatic, Toggle::on, Toggle::off});
        });
    };
    add_toggle("--matching",
               "auto, on or off: permute rows (lu) or pair them (ldlt, ldlh) by a maximum-product matching "
               "[auto: where a diagonal entry is zero or weak]",
               library.matching);
    add_toggle("--scaling", "auto, on or off: scale rows and columns [auto: for lu, ldlt and ldlh]",
               library.scaling);
    add_option_value(
        command, "--precision", "LETTER",
        "s, d, c or z: single or double, real or complex [d for a real matrix, z for a complex one]",
        [&run](std::string const& text) {
            run.precision = choice("--precision", text, {Scalar::s, Scalar::d, Scalar::c, Scalar::z});
        });
    add_option_value(command, "--ordering", "METHOD",
                     "scotch, metis, amd, natural, or a file with the new position of each row [scotch]",
                     [&library](std::string const& text) { take_ordering(library, text); });
    add_option_value(command, "--threads", "T", "worker threads [the cores this process may use]",
                     [&library, most_threads](std::string const& text) {
                         library.threads = static_cast<int>(parse_count("--threads", text, 1, most_threads));
                     });
    add_option_value(
        command, "--topology", "MACHINE",
        "plan for another machine: a file of 'lstopo machine.xml', or a description such as "
        "'numa:2 core:8'; workers then have virtual cores and NUMA nodes [here: this machine]",
        [&library](std::string const& text) { library.topology = parse_topology("--topology", text); });
    add_toggle("--calibration",
               "auto, on or off: predict by a cost model measured on this machine; on measures it anew, off "
               "uses the one shipped [auto: measured once, for less than 2 s, and kept]",
               library.calibration);
    add_schedule_options(command, library);
    add_option_value(command, "--alloc", "POLICY",
                     "where coefficients live: global, local or interleave [local]",
                     [&library](std::string const& text) {
                         using enum Allocation;
                         library.allocation = choice("--alloc", text, {global, local, interleave});
                     });
    add_option_value(
        command, "--comm-threads", "C",
        "threads of each process under mpirun that only move messages: with 2 one sends and one receives, "
        "with 0 workers do it between tasks; fewer where MPI does not allow as many [1]",
        [&library](std::string const& text) {
            library.comm_threads = static_cast<int>(parse_count("--comm-threads", text, 0, 2));
        });
    add_option_value(command, "--input", "HOW",
                     "under mpirun: root, the first process reads the matrix and the right-hand sides, or "
                     "distributed, each "
                     "process reads its part of a Matrix Market file, which all must see [root]",
                     [&run](std::string const& text) {
                         if (text != "root" && text != "distributed")
                             throw Error(
                                 Status::usage,
                                 fmt::format("--input has no value '{}'; it has root, distributed", text));
                         run.read_by_parts = text == "distributed";
                     });
    add_option_value(
        command, "--max-memory", "SIZE",
        "refuse to factorize when it would need more: 512M, 4G, 1.5GiB [no limit]",
        [&library](std::string const& text) { library.max_memory = parse_size("--max-memory", text); });
}

void add_prediction_options(CLI::App& command, RunOptions& run) {
    add_option_value(command, "--processes", "P", "predict for so many processes of --threads each [1]",
                     [&run](std::string const& text) {
                         run.processes = static_cast<int>(parse_count("--processes", text, 1, 1 << 20));
                     });
    add_option_value(
        command, "--trace", "FILE",
        "write the predicted schedule as a Paje trace (compressed when FILE ends in .gz; - is standard "
        "output)",
        [&run](std::string const& text) { run.trace = text; });
}

void add_system_options(CLI::App& command, RunOptions& run) {
    Options& library = run.library;
    add_option_value(command, "--operation", "OP",
                     "none, transpose or adjoint: solve A x = b, A^T x = b or A^H x = b [none]",
                     [&run](std::string const& text) {
                         using enum MatrixOp;
                         run.op = choice("--operation", text, {none, transpose, adjoint});
                     });
    command.add_flag("--mixed-precision", library.mixed_precision,
                     wrapped("factorize in single precision and refine to that of the run; goes back to full "
                             "precision, and says so, where that does not do",
                             76));
    add_option_value(
        command, "--rhs", "FILE|ones|random",
        "right-hand sides: a Matrix Market array, all ones, or uniform in [-1, 1] from a fixed seed [ones]",
        [&run](std::string const& text) { run.rhs = text; });
    add_option_value(
        command, "--nrhs", "K", "number of right-hand sides [1, or the columns of the file]",
        [&run](std::string const& text) { run.nrhs = parse_count("--nrhs", text, 1, 1'000'000); });
    add_option_value(
        command, "--refine", "METHOD",
        "auto, none, ir (iterative refinement), cg, gmres or bicgstab [auto: ir, then gmres if that stalls]",
        [&library](std::string const& text) {
            using enum RefineMethod;
            library.refine = choice("--refine", text, {automatic, none, ir, cg, gmres, bicgstab});
        });
    add_option_value(
        command, "--tolerance", "E",
        "backward error that counts as solved [1e-12 in double, 1e-5 in single precision]",
        [&library](std::string const& text) { library.tolerance = parse_positive("--tolerance", text); });
}

void add_solve_options(CLI::App& command, RunOptions& run) {
    add_system_options(command, run);
    command.add_flag(
        "--condition", run.library.condition,
        wrapped("also estimate the condition number and the forward error, and print determinant "
                "and inertia",
                76));
    add_option_value(
        command, "--null-space", "FILE",
        "accept a singular matrix, and write an orthonormal basis of its null space as a Matrix Market "
        "array (- is standard output)",
        [&run](std::string const& text) {
            run.null_space = text;
            run.library.allow_singular = true;
        });
    add_option_value(
        command, "--trace", "FILE",
        "record what every thread does, as a Paje trace for ViTE and 'espalier trace' (compressed when "
        "FILE ends in .gz; - is standard output)",
        [&run](std::string const& text) {
            run.trace = text;
            run.library.record_trace = true;
        });
    add_option_value(command, "--output", "FILE",
                     "write the solution as a Matrix Market array (- is standard output)",
                     [&run](std::string const& text) { run.output = text; });
}

void add_report_options(CLI::App& command, RunOptions& run) {
    add_option_value(command, "--json", "FILE", "write the report as JSON (- is standard output)",
                     [&run](std::string const& text) { run.json = text; });
    command.add_flag("--quiet", run.quiet, "print nothing but errors");
    command.add_flag("--verbose", run.verbose, "print also the settings, the machine and the choices made");
}

void add_generate_options(CLI::App& command, GenerateOptions& options) {
    command.add_option("KIND N", options.spec, "the generator and its numbers, as in 'lap3d 20' or lap3d:20")
        ->required()
        ->type_name("");
    add_option_value(command, "-o,--output", "FILE",
                     "the file to write, compressed when its name ends in .gz (- is standard "
                     "output) [-]",
                     [&options](std::string const& text) { options.output = text; });
    command.add_flag("--quiet", options.quiet, "print nothing but errors");
}

void add_machine_options(CLI::App& command, MachineOptions& options) {
    add_option_value(
        command, "--topology", "MACHINE",
        "show another machine: a file of 'lstopo machine.xml', or a description such as "
        "'numa:2 core:8' [here: this machine]",
        [&options](std::string const& text) { options.topology = parse_topology("--topology", text); });
    command.add_flag(
        "--calibrate", options.calibrate,
        wrapped("measure the cost model of this machine thoroughly, and keep it for later runs", 76));
    add_option_value(command, "--dgemm-order", "N", "order of the matrices that are multiplied [1000]",
                     [&options](std::string const& text) {
                         options.dgemm_order = parse_count("--dgemm-order", text, 1, 20000);
                     });
    add_option_value(command, "--picture", "FILE",
                     "draw the NUMA factors: an SVG file when its name ends in .svg, PNG for .png",
                     [&options](std::string const& text) { options.picture = text; });
    add_option_value(command, "--json", "FILE", "write the same as JSON (- is standard output)",
                     [&options](std::string const& text) { options.json = text; });
    command.add_flag("--quiet", options.quiet, "print nothing but errors");
}

bool is_machine_file(std::string const& name) {
    return name.ends_with(".json") || name.ends_with(".xml");
}

std::vector<NamedPath> input_files(RunOptions const& run) {
    std::vector<NamedPath> inputs;
    if (!is_generator(run.matrix)) inputs.push_back({"the matrix", run.matrix});
    if (run.rhs != "ones" && run.rhs != "random") inputs.push_back({"--rhs", run.rhs});
    if (is_machine_file(run.library.topology)) inputs.push_back({"--topology", run.library.topology});
    inputs.push_back({"--ordering", run.library.ordering_file});
    return inputs;
}

void check(RunOptions const& run) {
    if (run.op != MatrixOp::none && !run.null_space.empty())
        throw Error(Status::usage, "--null-space goes with A x = b only, not with --operation " +
                                       std::string(to_string(run.op)));
    if (run.quiet && run.verbose) throw Error(Status::usage, "--quiet and --verbose contradict each other");
    NamedPath const outputs[] = {{"--json", run.json},
                                 {"--output", run.output},
                                 {"--null-space", run.null_space},
                                 {"--trace", run.trace}};
    refuse_same_files(outputs, input_files(run));
    if (run.library.ordering == OrderingMethod::user && access(run.library.ordering_file.c_str(), R_OK) != 0)
        throw Error(Status::io_error,
                    fmt::format("--ordering '{}' is not scotch, metis, amd or natural, and no file: {}",
                                run.library.ordering_file, std::generic_category().message(errno)));
}

} // namespace espalier::command
