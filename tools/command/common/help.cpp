#include "help.hpp"

#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "espalier/types.hpp"
#include "generators/generators.hpp"

namespace espalier::command {

namespace {

constexpr std::string_view status_meaning(Status status) {
    switch (status) {
    case Status::ok:
        return "done; after solve: the backward error is within the tolerance";
    case Status::internal:
        return "a bug in Espalier, or a failure of a library it uses";
    case Status::usage:
        return "unknown option, or an argument that is contradictory or out of range";
    case Status::bad_input:
        return "a file that cannot be understood: syntax, sizes, NaN, Inf, not square";
    case Status::io_error:
        return "a file that cannot be opened, read or written";
    case Status::singular:
        return "the matrix is singular, by its pattern or numerically";
    case Status::not_positive_definite:
        return "llh met a pivot that is not positive";
    case Status::inaccurate:
        return "solved, but the backward error is above the tolerance";
    case Status::out_of_memory:
        return "--max-memory, or the memory of the machine, would be exceeded";
    case Status::unsupported:
        return "understood, but not in this version or build";
    case Status::cancelled:
        return "interrupted";
    }
    return "";
}

std::string exit_codes() {
    std::string text = "Exit codes:\n";
    for (int code = 0; code <= static_cast<int>(Status::cancelled); ++code)
        text +=
            fmt::format("  {:>2}  {:<22} {}\n", code, to_string(Status{code}), status_meaning(Status{code}));
    return text;
}

std::string generators() {
    std::string text = "Generators:\n";
    for (GeneratorHelp const& help : generator_help())
        text +=
            fmt::format("  {:<26} {}\n", fmt::format("{}:{}", help.kind, help.arguments), help.description);
    return text;
}

} // namespace

std::string general_help() {
    return "Examples:\n"
           "  espalier solve matrix.mtx                       A x = b with b = ones; a report\n"
           "  espalier solve lap3d:60 --threads 2             the 7-point Laplacian on a 60^3 grid\n"
           "  espalier solve a.mtx.gz --rhs b.mtx --output x.mtx --json report.json\n"
           "  espalier analyze matrix.rb                      fill, work and memory, without numbers\n"
           "  espalier generate elast3d:20 --output k.mtx.gz  a test matrix\n"
           "'espalier solve --help' explains every option.\n\n" +
           exit_codes();
}

std::string solve_help() {
    return "Examples:\n"
           "  espalier solve matrix.mtx\n"
           "  espalier solve lap3d:40 --rhs random --nrhs 8 --json report.json\n"
           "  espalier solve a.rua.gz --factorization lu --refine gmres --output x.mtx\n"
           "  espalier solve big.mtx --precision s --max-memory 4G\n"
           "  espalier solve big.mtx --mixed-precision           half the memory, then full accuracy\n"
           "  espalier solve kkt.mtx --condition                 condition, forward error, inertia, "
           "determinant\n"
           "  espalier solve neumann.mtx --null-space z.mtx --output x.mtx\n"
           "  gzip -dc matrix.mtx.gz | espalier solve -          the matrix from standard input\n"
           "  espalier solve matrix.mtx --json - | python3 -m json.tool\n"
           "  mpirun -np 4 --bind-to none espalier solve big.mtx --threads 8\n"
           "  espalier solve lap3d:40 --threads 2 --trace run.paje && espalier trace run.paje --png "
           "run.png\n\n"
           "--factorization auto tries llh on a Hermitian or real symmetric matrix that may be positive\n"
           "definite by its diagonal, and goes on with ldlh when that meets a pivot that is not positive. "
           "Other\n"
           "symmetric matrices get ldlt or ldlh, general ones lu. The report says what was used.\n\n"
           "Unsymmetric and indefinite matrices are scaled, and matched where their diagonal is weak; "
           "--scaling "
           "and\n"
           "--matching say otherwise. What was done stands in the report's notes.\n\n"
           "Files named by --json and --output appear whole or not at all. On an error that yields no "
           "solution\n"
           "neither is written; when the solution is inaccurate or the matrix\n"
           "numerically singular (exit codes 7 and 5) both are, unless the solution overflowed.\n\n"
           "Under mpirun the processes of the job factorize together, each with --threads workers (by\n"
           "default as many as the launcher gives it cores). The first one reads, writes and reports; with\n"
           "--input distributed each reads its part of the files.\n"
           "docs/clusters.md tells how to start them and what they need.\n\n"
           "While it runs, a terminal shows a bar for each long phase, a pipe gets one line a phase.\n\n" +
           generators() + "\n" + exit_codes();
}

std::string analyze_help() {
    return "Examples:\n"
           "  espalier analyze matrix.mtx\n"
           "  espalier analyze lap3d:80 --ordering metis --max-memory 8G --json analysis.json\n"
           "  espalier analyze lap3d:80 --processes 8 --threads 32 --trace predicted.paje\n"
           "  espalier analyze lap3d:80 --topology 'numa:8 core:16'\n\n"
           "Nothing proportional to the factor is allocated. With --max-memory the exit code tells whether "
           "the\n"
           "factorization would fit: 0, or 8.\n\n"
           "The prediction is that of --schedule and --split: proportional mapping of the elimination tree "
           "on\n"
           "the processes and threads, then a simulation task by task with the cost model of this machine, "
           "and\n"
           "2 us and 10 GB/s between processes. Where memory lies does not count; that is 'espalier "
           "simulate'.\n"
           "--trace writes the predicted run; 'espalier trace' draws it.\n\n" +
           generators() + "\n" + exit_codes();
}

std::string generate_help() {
    return "Examples:\n"
           "  espalier generate lap3d 20 --output lap3d-20.mtx\n"
           "  espalier generate elast3d:20 --output k.mtx.gz\n"
           "  espalier generate lap2d:8 | head\n\n"
           "The words after the kind are joined to it by colons, so 'lap3d 20' is lap3d:20. The file is in\n"
           "Matrix Market format.\n\n" +
           generators() + "\n" + exit_codes();
}

std::string machine_help() {
    return "Examples:\n"
           "  espalier machine\n"
           "  espalier machine --picture factors.png --json machine.json\n"
           "  espalier machine --topology 'package:2 numa:4 core:8'\n\n"
           "NUMA factors: how much longer a block takes for a core whose data lie on another node, and when\n"
           "all cores work at once; 1 is the fastest core alone.\n\n" +
           exit_codes();
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
