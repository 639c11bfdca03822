// The table of the library's options: one row for each. It is the source of set_option and get_option, the
// setters of the C interface, the options of the command with their help, completions and manual page, and
// Python's type hints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "espalier/options.hpp"

namespace espalier {

/// Sets of subcommands of the command, as bits.
namespace subcommand {
inline constexpr unsigned none = 0, solve = 1, analyze = 2, compare = 4, simulate = 8, dense = 16;
inline constexpr unsigned systems = solve | compare;  ///< They solve systems.
inline constexpr unsigned here = systems | analyze;   ///< They use this machine.
inline constexpr unsigned analyses = here | simulate; ///< They analyze a matrix.
inline constexpr unsigned runs = analyses | dense;    ///< They run or simulate tasks.
} // namespace subcommand

enum class OptionType {
    choice, ///< One of `choices`.
    flag,   ///< "on" or "off".
    count,  ///< An integer in [least, most].
    size,   ///< A number of bytes, such as "4G".
    real,   ///< A number that is not negative.
    text,   ///< A text that is not empty; `choices` have a special meaning.
};

/// How an option is presented.
struct OptionHeading {
    std::string_view name{};        ///< "max-memory": without dashes, a literal.
    unsigned subcommands = 0;       ///< Subcommands of the command that have it.
    std::string_view group{};       ///< Heading in the help.
    std::string_view placeholder{}; ///< Stands for the value in the help: "SIZE".
    std::string_view help{};        ///< What the option decides; values and default are added.
    std::string_view automatic{};   ///< What the default means if its spelling does not say so.
};

struct OptionRow : OptionHeading {
    OptionType type = OptionType::text;
    std::span<char const* const> choices{};
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::string_view unset{}; ///< The spelling of "no value given", such as "auto"; empty if there is none.
    /// Stores the value that `text` spells. Error{usage} that begins with the name of the option.
    void (*set)(Options& options, OptionRow const& row, std::string_view text) = nullptr;
    std::string (*get)(Options const& options, OptionRow const& row) = nullptr;
    /// For choices and flags: stores choices[k].
    void (*set_index)(Options& options, std::int64_t k) = nullptr;

    /// "scotch, metis, amd, natural or FILE: ordering of the unknowns [auto]": the help, with values and
    /// default.
    [[nodiscard]] std::string description() const;
};

/// In the order of option_names().
std::span<OptionRow const> option_table() noexcept;
/// Error{usage} for an unknown name.
OptionRow const& option_row(std::string_view name);

/// Stores choices[k] of a choice or a flag. Error{usage} if k is out of range.
void set_option_index(Options& options, std::string_view name, std::int64_t k);

} // namespace espalier
