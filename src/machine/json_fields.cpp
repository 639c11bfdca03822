#include "machine/json_fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier {

namespace {

struct Fit {
    enum Kind { no, above, below, yes } kind = no; ///< Above: it names what should have parts.
    std::string_view rest = {};                    ///< Below: the parts that the pattern does not have.
};

Fit fit(std::string_view pattern, std::string_view key) {
    while (!pattern.empty() && !key.empty()) {
        std::string_view const want = pattern.substr(0, pattern.find('.'));
        std::string_view const have = key.substr(0, key.find('.'));
        if (want == "*") return {Fit::yes};
        bool const index = want == "#" && have.find_first_not_of("0123456789") == std::string_view::npos;
        if (!index && want != have) return {};
        pattern.remove_prefix(std::min(pattern.size(), want.size() + 1));
        key.remove_prefix(std::min(key.size(), have.size() + 1));
    }
    if (pattern.empty() && key.empty()) return {Fit::yes};
    return {key.empty() ? Fit::above : Fit::below, key};
}

} // namespace

void JsonFields::refuse(std::string const& what) const {
    throw Error(Status::bad_input, fmt::format("{}: {}", source_, what));
}

void JsonFields::refuse_unknown(std::span<std::string_view const> patterns, std::string_view help) const {
    for (auto const& [key, value] : json_) {
        Fit best;
        for (std::string_view const pattern : patterns)
            if (Fit const found = fit(pattern, key); found.kind > best.kind) best = found;
        if (best.kind == Fit::above)
            refuse(fmt::format("\"{}\" is {}, not a list or an object", key, shown(key)));
        if (best.kind == Fit::below)
            refuse(fmt::format("\"{}\" is a list or an object, not one value",
                               key.substr(0, key.size() - best.rest.size() - 1)));
        if (best.kind == Fit::no) refuse(fmt::format("there is no key \"{}\"; {}", key, help));
    }
}

bool JsonFields::has_below(std::string const& key) const {
    auto const at = json_.lower_bound(key + ".");
    return at != json_.end() && at->first.starts_with(key + ".");
}

std::string JsonFields::shown(std::string const& key) const {
    auto const at = json_.find(key);
    if (at == json_.end()) return has_below(key) ? "a list or an object" : "missing";
    if (auto const* const word = std::get_if<std::string>(&at->second)) return json_quoted(*word);
    if (auto const* const truth = std::get_if<bool>(&at->second)) return *truth ? "true" : "false";
    return fmt::format("{}", std::get<double>(at->second));
}

std::string JsonFields::text(std::string const& key) const {
    auto const at = json_.find(key);
    auto const* const value = at == json_.end() ? nullptr : std::get_if<std::string>(&at->second);
    if (!value) refuse(fmt::format("\"{}\" is {}, not a text", key, shown(key)));
    return *value;
}

double JsonFields::number(std::string const& key, double least, double most) const {
    auto const at = json_.find(key);
    auto const* const value = at == json_.end() ? nullptr : std::get_if<double>(&at->second);
    if (!value || !(*value >= least && *value <= most))
        refuse(fmt::format("\"{}\" is {}, not a number from {} to {}", key, shown(key), least, most));
    return *value;
}

int JsonFields::count(std::string const& key, int least, int most) const {
    double const value = number(key, least, most);
    if (value != std::floor(value)) refuse(fmt::format("\"{}\" is {}, not a whole number", key, value));
    return static_cast<int>(value);
}

std::vector<double> JsonFields::square_table(std::string const& key, double least, double most) const {
    int rows = 0;
    while (has_below(fmt::format("{}.{}", key, rows))) ++rows;
    std::vector<double> result;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j)
            result.push_back(number(fmt::format("{}.{}.{}", key, i, j), least, most));
        if (std::string const past = fmt::format("{}.{}.{}", key, i, rows); has(past))
            refuse(fmt::format("\"{}\" is there, but \"{}\" has {} rows", past, key, rows));
    }
    return result;
}

} // namespace espalier
