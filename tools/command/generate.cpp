// `espalier generate`: a test matrix as a Matrix Market file.
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "generators/generators.hpp"
#include "io/write.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"

namespace espalier::command {

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

} // namespace espalier::command
