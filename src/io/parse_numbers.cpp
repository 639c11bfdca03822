// The rare cases of parse_numbers.hpp: signs, Fortran exponents, and messages about text that is not a
// number.
#include "io/parse_numbers.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "core/one_line.hpp"

namespace espalier {

namespace {

// The parts of a decimal number.
struct Decimal {
    bool negative = false;
    bool has_point = false;
    bool has_exponent = false;
    std::string_view mantissa; // digits with at most one point
    std::int64_t exponent = 0; // clamped to +-10^9, far outside the range of a double
};

char const* skip_digits(char const* p, char const* end) {
    while (p != end && is_digit(*p)) ++p;
    return p;
}

std::int64_t clamped_integer(char const* p, char const* end) {
    std::int64_t sum = 0;
    for (; p != end; ++p) sum = std::min<std::int64_t>(10 * sum + (*p - '0'), 1'000'000'000);
    return sum;
}

// Parses [p, end) as a decimal number; nothing if it is not one. With `bare_exponent`, the exponent may lack
// its letter.
std::optional<Decimal> parse_decimal(char const* p, char const* end, bool bare_exponent) {
    Decimal d;
    if (p != end && (*p == '+' || *p == '-')) d.negative = *p++ == '-';
    char const* const first = p;
    p = skip_digits(p, end);
    auto digits = p - first;
    if (p != end && *p == '.') {
        d.has_point = true;
        char const* const fraction = ++p;
        p = skip_digits(p, end);
        digits += p - fraction;
    }
    if (digits == 0) return std::nullopt;
    d.mantissa = {first, p};
    if (p == end) return d;

    bool const letter = std::strchr("eEdD", *p) != nullptr && *p != '\0';
    if (letter) ++p;
    bool const sign = p != end && (*p == '+' || *p == '-');
    if (!letter && !(sign && bare_exponent)) return std::nullopt;
    bool const negative = sign && *p == '-';
    if (sign) ++p;
    if (p == end || skip_digits(p, end) != end) return std::nullopt;
    d.has_exponent = true;
    d.exponent = negative ? -clamped_integer(p, end) : clamped_integer(p, end);
    return d;
}

// The exponent of the power of ten just above |mantissa * 10^exponent|; distinguishes overflow from
// underflow.
std::int64_t magnitude(Decimal const& d) {
    auto const point = std::min(d.mantissa.find('.'), d.mantissa.size());
    auto const first = d.mantissa.find_first_not_of("0.");
    if (first == std::string_view::npos) return 0;
    return d.exponent + static_cast<std::int64_t>(point - first);
}

// The value, rounded correctly by from_chars; zero on underflow, nothing on overflow.
std::optional<double> value_of(Decimal const& d) {
    auto const text = fmt::format("{}e{}", d.mantissa, d.exponent);
    double value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range || !std::isfinite(value)) {
        if (magnitude(d) > 0) return std::nullopt;
        value = 0;
    }
    return d.negative ? -value : value;
}

} // namespace

std::int64_t Source::line_of(char const* where) const {
    return first_line_ + std::count(begin(), where, '\n');
}

void Source::fail(char const* where, std::string const& what, Status status) const {
    throw Error(status, fmt::format("{}:{}: {}", name_, line_of(where), what));
}

char const* line_end(char const* p, char const* end) {
    if (p == end) return end;
    void const* const found = std::memchr(p, '\n', end - p);
    return found ? static_cast<char const*>(found) : end;
}

std::string_view token_at(char const* p, char const* end) {
    char const* q = p;
    while (!ends_number(q, end)) ++q;
    return {p, q};
}

std::string in_quotes(std::string_view token) {
    std::size_t const limit = 40;
    return fmt::format("'{}{}'", in_ascii(token.substr(0, limit)), token.size() > limit ? "..." : "");
}

char const* parse_integer_slowly(char const* p, char const* end, std::int64_t& value) {
    auto const token = token_at(p, end);
    char const* const last = p + token.size();
    char const* first = p;
    if (first != last && *first == '+' && first + 1 != last && is_digit(first[1])) ++first;
    auto const [stop, error] = std::from_chars(first, last, value);
    return error == std::errc{} && stop == last ? last : nullptr;
}

char const* parse_real_slowly(char const* p, char const* end, double& value) {
    auto const token = token_at(p, end);
    auto const decimal = parse_decimal(p, p + token.size(), false);
    if (!decimal) return nullptr;
    auto const result = value_of(*decimal);
    if (!result) return nullptr;
    value = *result;
    return p + token.size();
}

bool parse_fixed_real(char const* p, char const* end, int decimals, int scale, double& value) {
    auto const [stop, error] = std::from_chars(p, end, value);
    if (error == std::errc{} && stop == end && std::isfinite(value) && scale == 0 &&
        std::memchr(p, '.', end - p))
        return true;
    auto decimal = parse_decimal(p, end, true);
    if (!decimal) return false;
    if (!decimal->has_point) decimal->exponent -= decimals;
    if (!decimal->has_exponent) decimal->exponent -= scale;
    auto const result = value_of(*decimal);
    if (result) value = *result;
    return result.has_value();
}

std::string bad_integer(char const* p, char const* end) {
    auto const token = token_at(p, end);
    if (token.empty()) return "a number is missing";
    auto const digits = token.substr(token[0] == '+' || token[0] == '-' ? 1 : 0);
    if (!digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit))
        return fmt::format("{} does not fit a 64-bit integer", in_quotes(token));
    return fmt::format("{} is not an integer", in_quotes(token));
}

std::string bad_real(char const* p, char const* end) {
    auto const token = token_at(p, end);
    if (token.empty()) return "a value is missing";
    auto const decimal = parse_decimal(token.data(), token.data() + token.size(), true);
    if (decimal && !value_of(*decimal))
        return fmt::format("{} is too large for double precision", in_quotes(token));
    std::string word(token.substr(token[0] == '+' || token[0] == '-' ? 1 : 0, 3));
    for (char& c : word) c = static_cast<char>(c | 0x20);
    if (word == "nan" || word == "inf") return fmt::format("{} is not a finite number", in_quotes(token));
    return fmt::format("{} is not a number", in_quotes(token));
}

std::vector<std::string_view> split_at_line_ends(std::string_view text, int parts) {
    std::size_t const smallest = std::size_t{1} << 18;
    std::size_t const count = std::clamp<std::size_t>(text.size() / smallest, 1, parts);
    std::size_t const share = text.size() / count;
    std::vector<std::string_view> pieces;
    char const* const end = text.data() + text.size();
    char const* first = text.data();
    for (std::size_t k = 1; k < count; ++k) {
        char const* const last = next_line(std::max(first, text.data() + k * share), end);
        pieces.emplace_back(first, last);
        first = last;
    }
    pieces.emplace_back(first, end);
    return pieces;
}

} // namespace espalier
