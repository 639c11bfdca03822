#include "help.hpp"

#include <fmt/format.h>

#include "core/names.hpp"
#include "generators/generators.hpp"

namespace espalier::command {

std::string_view status_meaning(Status status) {
    static constexpr std::string_view meanings[] = {
        "done; after solve: the backward error is within the tolerance",
        "a bug in Espalier, or a failure of a library it uses",
        "unknown option, or an argument that is contradictory or out of range",
        "a file that cannot be understood: syntax, sizes, NaN, Inf, not square",
        "a file that cannot be opened, read or written",
        "the matrix is singular, by its pattern or numerically",
        "llh found a pivot that is not positive",
        "solved, but the backward error is above the tolerance",
        "--max-memory, or the memory of the machine, would be exceeded",
        "valid, but not available in this version or build",
        "interrupted"};
    static_assert(std::size(meanings) == std::size(spellings<Status>));
    return meanings[static_cast<std::size_t>(status)];
}

std::string exit_codes() {
    std::string text = "Exit codes:\n";
    for (int code = 0; code < std::ssize(spellings<Status>); ++code)
        text +=
            fmt::format("  {:>2}  {:<22} {}\n", code, spellings<Status>[code], status_meaning(Status{code}));
    return text;
}

std::string generators() {
    std::string text = "Generators:\n";
    for (GeneratorHelp const& help : generator_help())
        text +=
            fmt::format("  {:<26} {}\n", fmt::format("{}:{}", help.kind, help.arguments), help.description);
    return text;
}

} // namespace espalier::command
