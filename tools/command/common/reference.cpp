#include "reference.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help.hpp"

namespace espalier::command {

namespace {

using Subcommands = std::span<Subcommand const>;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

std::vector<std::string> long_names(Subcommand const& subcommand) {
    std::vector<std::string> names;
    for (OptionText const& option : subcommand.options) names.push_back(option.long_name());
    names.emplace_back("--help");
    return names;
}

std::vector<std::string> names_of(Subcommands subcommands) {
    std::vector<std::string> names;
    for (Subcommand const& subcommand : subcommands) names.push_back(subcommand.name);
    return names;
}

std::string bash(Subcommands subcommands) {
    std::string text =
        fmt::format(R"(# Completion of the espalier command for bash, made by 'espalier completion bash'.
_espalier() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} options= values= files=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- "$word")
        return
    fi
    case ${{COMP_WORDS[1]}} in
)",
                    fmt::join(names_of(subcommands), " "));
    std::map<std::string, OptionText> valued; // by the name as it is typed
    for (Subcommand const& subcommand : subcommands) {
        text += fmt::format("        {}) options='{}' values='{}' files={} ;;\n", subcommand.name,
                            fmt::join(long_names(subcommand), " "), subcommand.positional_choices,
                            subcommand.takes_file ? "yes" : "");
        for (OptionText const& option : subcommand.options)
            if (!option.is_flag()) valued.emplace(replaced(option.name, ",", " | "), option);
    }
    text += "        *) return ;;\n    esac\n    case $before in\n";
    for (auto const& [names, option] : valued)
        text += fmt::format("        {}) values='{}' files={} ;;\n", names, fmt::join(option.choices, " "),
                            option.takes_file() ? "yes" : "");
    return text + R"(        *) if [[ $word == -* ]]; then values=$options files=; fi ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    if [[ $files ]]; then
        local names
        mapfile -t names < <(compgen -f -- "$word")
        COMPREPLY+=("${names[@]}")
        compopt -o filenames 2>/dev/null || true # fails outside of a completion
    fi
}

complete -F _espalier espalier
)";
}

// In single quotes, for zsh and fish.
std::string shell_quoted(std::string const& text) {
    return "'" + replaced(text, "'", R"('\'')") + "'";
}

std::string zsh_option(OptionText const& option) {
    std::string summary = option.summary();
    for (char const* const special : {"[", "]", ":"})
        summary = replaced(summary, special, std::string("\\") + special);
    std::string text = fmt::format("{}[{}]", option.long_name(), summary);
    if (!option.is_flag()) text += fmt::format(":{}:", option.placeholder);
    if (!option.choices.empty() && !option.takes_file())
        text += fmt::format("({})", fmt::join(option.choices, " "));
    if (option.takes_file()) text += "_files";
    return shell_quoted(text);
}

std::string zsh(Subcommands subcommands) {
    std::string commands, cases;
    for (Subcommand const& subcommand : subcommands) {
        commands += fmt::format(" {}\\:\"{}\"", subcommand.name, subcommand.summary);
        cases += fmt::format("    {}) _arguments", subcommand.name);
        for (OptionText const& option : subcommand.options) cases += " \\\n        " + zsh_option(option);
        cases += fmt::format(" \\\n        '--help[print the help]' '*:argument:{}' ;;\n",
                             subcommand.takes_file ? "_files"
                                                   : fmt::format("({})", subcommand.positional_choices));
    }
    return fmt::format(R"(#compdef espalier
# Completion of the espalier command for zsh, made by 'espalier completion zsh'.

_arguments -C '--help[print the help]' '--version[print the version]' '1:command:(({}))' '*::argument:->rest'
[[ $state == rest ]] || return
case $words[1] in
{}esac
)",
                       commands.substr(1), cases);
}

std::string fish(Subcommands subcommands) {
    std::string text = R"(# Completion of the espalier command for fish, made by 'espalier completion fish'.
complete -c espalier -f
complete -c espalier -n __fish_use_subcommand -l version -d 'print the version'
complete -c espalier -l help -d 'print the help'
)";
    for (Subcommand const& subcommand : subcommands) {
        text += fmt::format("complete -c espalier -n __fish_use_subcommand -a {} -d {}\n", subcommand.name,
                            shell_quoted(subcommand.summary));
        std::string const condition =
            fmt::format("complete -c espalier -n '__fish_seen_subcommand_from {}'", subcommand.name);
        if (subcommand.takes_file) text += condition + " -F\n";
        if (!subcommand.positional_choices.empty())
            text += fmt::format("{} -a {}\n", condition, shell_quoted(subcommand.positional_choices));
        for (OptionText const& option : subcommand.options) {
            std::string values = option.is_flag() ? "" : option.takes_file() ? " -r" : " -x";
            if (!option.choices.empty())
                values += " -a " + shell_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
            std::string const letter =
                option.name.starts_with("--") ? "" : fmt::format(" -s {}", option.name[1]);
            text += fmt::format("{} -l {}{}{} -d {}\n", condition, option.long_name().substr(2), letter,
                                values, shell_quoted(option.summary()));
        }
    }
    return text;
}

// Text of a paragraph in mdoc.
std::string mdoc(std::string const& text) {
    std::string lines = "\n" + wrapped(replaced(text, "\\", "\\e"), 100);
    for (char const* const control : {"\n.", "\n'"})
        lines = replaced(lines, control, std::string("\n\\&") + control[1]);
    return lines.substr(1) + "\n";
}

std::string mdoc_item(OptionText const& option) {
    std::string flags;
    for (std::size_t begin = 0; begin < option.name.size();) {
        std::size_t const end = std::min(option.name.find(',', begin), option.name.size());
        flags += (begin > 0 ? " , Fl " : "") + option.name.substr(begin + 1, end - begin - 1);
        begin = end + 1;
    }
    std::string const value =
        option.is_flag() ? "" : fmt::format(" Ar {}", replaced(option.placeholder, "|", " | "));
    return fmt::format(".It Fl {}{}\n{}", flags, value, mdoc(option.help));
}

// The options of a subcommand. Options that an earlier subcommand has with the same help are only named.
std::string mdoc_section(Subcommands subcommands, std::size_t k) {
    std::string text = fmt::format(".Ss Options of {}\n", subcommands[k].name), items;
    std::vector<std::string> shared(k);
    for (OptionText const& option : subcommands[k].options) {
        auto const alike = [&option](OptionText const& other) {
            return other.name == option.name && other.help == option.help;
        };
        auto const earlier =
            std::find_if(subcommands.begin(), subcommands.begin() + static_cast<std::ptrdiff_t>(k),
                         [&](Subcommand const& other) {
                             return std::any_of(other.options.begin(), other.options.end(), alike);
                         });
        if (earlier == subcommands.begin() + static_cast<std::ptrdiff_t>(k))
            items += mdoc_item(option);
        else
            shared[earlier - subcommands.begin()] += fmt::format(" , {}", option.name.substr(1));
    }
    for (std::size_t other = 0; other < k; ++other)
        if (!shared[other].empty())
            text +=
                fmt::format("As for\n.Cm {} :\n.Fl {} .\n", subcommands[other].name, shared[other].substr(3));
    return items.empty() ? text : text + ".Bl -tag -width Ds\n" + items + ".El\n";
}

std::string mdoc_exit_status() {
    std::string text = ".Bl -tag -width 10n -compact\n";
    for (std::size_t code = 0; code < spellings<Status>.size(); ++code)
        text += fmt::format(".It {}\n{}", code, mdoc(std::string(status_meaning(static_cast<Status>(code)))));
    return text + ".El\n";
}

} // namespace

std::string completion(std::string_view shell, Subcommands subcommands) {
    static constexpr std::array<char const*, 3> shells{"bash", "zsh", "fish"};
    constexpr std::array completions{bash, zsh, fish};
    return completions[parse_choice("SHELL", shell, shells)](subcommands);
}

std::string manual_page(std::string const& page, Subcommands subcommands) {
    std::string options;
    for (std::size_t k = 0; k < subcommands.size(); ++k) options += mdoc_section(subcommands, k);
    return replaced(replaced(page, "@OPTIONS@\n", options), "@EXIT STATUS@\n", mdoc_exit_status());
}

} // namespace espalier::command
