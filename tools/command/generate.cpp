// `espalier generate`: a test matrix as a Matrix Market file.
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "help.hpp"
#include "matrix/generators.hpp"
#include "matrix/write.hpp"
#include "numbers.hpp"
#include "output_file.hpp"

namespace espalier::command {

void add_generate_options(CLI::App& command, GenerateOptions& options) {
    command.add_option("KIND N", options.spec, "the generator and its numbers, as in 'lap3d 20' or lap3d:20")
        ->required()
        ->type_name("");
    add_value(command, "-o,--output", "FILE",
              "the file to write, compressed when its name ends in .gz (- is standard "
              "output) [-]",
              [&options](std::string const& text) { options.output = text; });
    command.add_flag("--quiet", options.quiet, "print nothing but errors");
}

void generate(GenerateOptions const& options) {
    std::string const spec = fmt::format("{}", fmt::join(options.spec, ":"));
    OutputFile const file(options.output);
    NamedMatrix const named = generate_matrix(spec);
    file.write([&named](std::string const& path) { write_matrix(path, named); });
    if (options.quiet || file.is_stdout()) return;
    std::visit(
        [&](auto const& matrix) {
            fmt::print("{}: n = {}, {} nonzeros, {}, written to {}\n", named.description.name,
                       with_separators(matrix.rows), with_separators(matrix.nnz()),
                       to_string(matrix.symmetry), options.output);
        },
        named.matrix);
}

} // namespace espalier::command
