// `espalier generate`: a test matrix as a Matrix Market file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generators/generators.hpp"
#include "io/write.hpp"
#include "tools/command/common/help.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/command/solve/options.hpp"

namespace espalier::command {

namespace {

struct GenerateOptions {
    std::vector<std::string> spec; ///< "lap3d", "20", or "lap3d:20": joined by colons.
    std::string output = "-";
    bool quiet = false;
};

void declare_generate(OptionSet& set, GenerateOptions& options) {
    set.positional("KIND N", "the generator and its numbers, as in 'lap3d 20' or lap3d:20", options.spec);
    set.group("Output");
    set.text({"-o,--output", "FILE",
              "file to write, compressed if its name ends in .gz (- is standard output) [-]"},
             options.output);
    add_quiet(set, options.quiet);
}

void generate(GenerateOptions const& options) {
    std::string const spec = fmt::format("{}", fmt::join(options.spec, ":"));
    OutputFile const file(options.output);
    NamedMatrix const named = generate_matrix(spec);
    file.write([&named](std::string const& path) { write_matrix(path, named); });
    if (options.quiet || file.is_stdout()) return;
    std::visit(
        [&](auto const& matrix) {
            print(fmt::format("{}: n = {}, {}, {}, written to {}\n", named.description.name,
                              with_separators(matrix.rows), counted(matrix.nnz(), "nonzero"),
                              to_string(matrix.symmetry), options.output));
        },
        named.matrix);
}

std::string generate_help() {
    return R"(Examples:
  espalier generate lap3d 20 --output lap3d-20.mtx
  espalier generate elast3d:20 --output k.mtx.gz
  espalier generate lap2d:8 | head

The words after the kind are joined to it by colons, so 'lap3d 20' is lap3d:20. The file is in
Matrix Market format.

)" + generators() +
           "\n" + exit_codes();
}

} // namespace

Subcommand generate_command() {
    Subcommand command = make_subcommand<GenerateOptions>(
        "generate", "write a test matrix", generate_help, declare_generate, [](GenerateOptions const&) {},
        generate);
    command.takes_file = false;
    for (GeneratorHelp const& one : generator_help())
        command.positional_choices += " " + std::string(one.kind);
    return command;
}

} // namespace espalier::command
