// The options of one subcommand. Each is declared once, in one line or as a row of the library's table; the
// parser, the help, the shell completions and the manual page all come from that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.hpp"
#include "options/option_table.hpp"
#include "options/parse_value.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace espalier::command {

/// An option as its texts show it.
struct OptionText {
    std::string name;                   ///< "--json", or "-o,--output" with a short form.
    std::string placeholder;            ///< Stands for the value: "FILE"; empty for a flag.
    std::string help;                   ///< The effect of the option, and its default in brackets.
    std::vector<std::string> choices{}; ///< Values that the shell can complete.

    [[nodiscard]] bool takes_file() const;
    [[nodiscard]] bool is_flag() const { return placeholder.empty(); }
    /// "--output".
    [[nodiscard]] std::string long_name() const;
    /// The main part of `help`, for a line of a completion.
    [[nodiscard]] std::string summary() const;
};

class OptionSet {
  public:
    /// Declares options on `app`, which must outlive this.
    explicit OptionSet(CLI::App& app) : app_(app) {}

    /// Heading in the help of the options that follow.
    void group(std::string_view heading) { group_ = heading; }

    /// The required positional argument, with or without further words.
    void positional(std::string const& name, std::string const& help, std::string& value);
    void positional(std::string const& name, std::string const& help, std::vector<std::string>& words);

    void flag(OptionText text, bool& value);
    /// An option with a value, which must not be empty. `take` throws Error{usage} that begins with the name
    /// of the option for a wrong value. The option may be given once, or several times if it `repeats`.
    void value(OptionText text, std::function<void(std::string const&)> const& take, bool repeats = false);
    void text(OptionText text, std::string& value);

    /// An integer in [least, most].
    template <class Number>
    void count(OptionText const& text, Number& value, std::int64_t least, std::int64_t most) {
        this->value(text, [name = text.name, &value, least, most](std::string const& given) {
            value = static_cast<Plain<Number>>(parse_count(name, given, least, most));
        });
    }
    /// One of the spellings of an enumeration, which the help lists.
    template <class Enum> void choice(OptionText text, Enum& value) {
        choice(std::move(text), spellings<Plain<Enum>>, [&value](std::size_t k) {
            if constexpr (std::is_same_v<Plain<Enum>, Scalar>)
                value = static_cast<Scalar>(*spellings<Scalar>[k]);
            else
                value = static_cast<Plain<Enum>>(k);
        });
    }
    /// One of `choices`, which the help lists; `take` gets its position.
    void choice(OptionText text, std::span<char const* const> choices,
                std::function<void(std::size_t)> const& take);

    /// All options of the library that the subcommand has. They set `options`.
    void library(Options& options, unsigned subcommand);
    /// One of them, with another row in place of that of the table.
    void library(Options& options, OptionRow const& row);

    [[nodiscard]] std::vector<OptionText> const& declared() const { return declared_; }

  private:
    template <class Value> struct PlainOf {
        using type = Value;
    };
    template <class Value> struct PlainOf<std::optional<Value>> {
        using type = Value;
    };
    template <class Value> using Plain = typename PlainOf<Value>::type;

    void remember(OptionText text, CLI::Option* option);

    CLI::App& app_;
    std::string group_ = "Options";
    std::vector<OptionText> declared_;
};

/// `text` broken between words into lines of at most `width` characters.
std::string wrapped(std::string const& text, std::size_t width);

} // namespace espalier::command
