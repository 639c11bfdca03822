// A parser for coordinates and one for arrays, templates over the kind of value.
#include "io/market_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/run_threads.hpp"
#include "core/scalar.hpp"

namespace espalier {

namespace {

// Parsers of the value of an entry for each field; they return null if there is no value at p.
struct RealValue {
    using type = double;
    static char const* parse(char const* p, char const* end, double& value) {
        return parse_real(p, end, value);
    }
};
struct IntegerValue {
    using type = double;
    static char const* parse(char const* p, char const* end, double& value) {
        std::int64_t integer = 0;
        p = parse_integer(p, end, integer);
        value = static_cast<double>(integer);
        return p;
    }
};
struct ComplexValue {
    using type = std::complex<double>;
    static char const* parse(char const* p, char const* end, std::complex<double>& value) {
        double re = 0, im = 0;
        if (!(p = parse_real(p, end, re))) return nullptr;
        p = parse_real(skip_blanks(p, end), end, im);
        value = {re, im};
        return p;
    }
};
struct PatternValue {
    using type = double;
    static char const* parse(char const* p, char const*, double& value) {
        value = 1;
        return p;
    }
};

// Calls visit(value parser) for the field.
template <class Visit> auto with_value_of(MarketField field, Visit const& visit) {
    switch (field) {
    case MarketField::integer:
        return visit(IntegerValue{});
    case MarketField::complex:
        return visit(ComplexValue{});
    case MarketField::pattern:
        return visit(PatternValue{});
    case MarketField::real:
        break;
    }
    return visit(RealValue{});
}

// Throws the error for the text at p that Value::parse() rejected.
template <class Value> [[noreturn]] void fail_value(Source const& source, char const* p) {
    char const* const end = source.end();
    if constexpr (std::is_same_v<Value, IntegerValue>)
        source.fail(p, fmt::format("value: {}", bad_integer(p, end)));
    double re = 0;
    char const* const imaginary = parse_real(p, end, re);
    if (!imaginary) source.fail(p, fmt::format("value: {}", bad_real(p, end)));
    source.fail(p, fmt::format("imaginary part: {}", bad_real(skip_blanks(imaginary, end), end)));
}

// Parses an index in 1 .. size and converts it to 0-based.
inline char const* take_index(Source const& source, char const* p, Index size, char const* what,
                              Index& index) {
    char const* const after = parse_integer(p, source.end(), index);
    if (!after) source.fail(p, fmt::format("{} index: {}", what, bad_integer(p, source.end())));
    if (static_cast<std::uint64_t>(index) - 1 >= static_cast<std::uint64_t>(size))
        source.fail(p, fmt::format("{} index {} is outside 1 .. {}", what, index, size));
    --index;
    return after;
}

inline char const* finish_line(Source const& source, char const* p, char const* end) {
    p = skip_blanks(p, end);
    if (p == end) return p;
    if (*p != '\n') source.fail(p, fmt::format("unexpected {} after the entry", in_quotes(token_at(p, end))));
    return p + 1;
}

// The entries of the lines in `piece`: triples, or the values of an array file. Counting the lines first is
// cheaper than growing the vector.
template <class Entry, class Value>
std::vector<Entry> parse_piece(Source const& source, MarketHeader const& header, std::string_view piece) {
    constexpr bool triples = !std::is_same_v<Entry, typename Value::type>;
    std::size_t const lines = std::count(piece.begin(), piece.end(), '\n') + 1;
    std::vector<Entry> entries;
    entries.reserve(triples ? std::min<std::size_t>(lines, header.entries) : lines);
    char const* p = piece.data();
    char const* const end = p + piece.size();
    while ((p = next_data_line(p, end)) != end) {
        Index row = 0, col = 0;
        if constexpr (triples) {
            p = skip_blanks(take_index(source, p, header.rows, "row", row), end);
            p = skip_blanks(take_index(source, p, header.cols, "column", col), end);
        }
        typename Value::type value;
        char const* const after = Value::parse(p, end, value);
        if (!after) fail_value<Value>(source, p);
        p = finish_line(source, after, end);
        if constexpr (triples)
            entries.push_back({row, col, value});
        else
            entries.push_back(value);
    }
    return entries;
}

// Parses one piece per thread. If several fail, the first error in the order of the file is thrown.
template <class Entry, class Value>
Pieces<Entry> parse_in_pieces(Source const& lines, MarketHeader const& header, int threads) {
    auto const pieces = split_at_line_ends(lines.text(), team_size(threads));
    Pieces<Entry> parsed(pieces.size());
    run_threads(static_cast<int>(pieces.size()),
                [&](int t) { parsed[t] = parse_piece<Entry, Value>(lines, header, pieces[t]); });
    return parsed;
}

} // namespace

AnyTriples parse_entry_lines(Source const& lines, MarketHeader const& header, int threads) {
    return with_value_of(header.field, [&]<class Value>(Value) -> AnyTriples {
        return parse_in_pieces<Triple<typename Value::type>, Value>(lines, header, threads);
    });
}

AnyPieces parse_array_lines(Source const& lines, MarketHeader const& header, int threads) {
    return with_value_of(header.field, [&]<class Value>(Value) -> AnyPieces {
        return parse_in_pieces<typename Value::type, Value>(lines, header, threads);
    });
}

void require_count(Source const& lines, Offset before, Offset here, bool is_last, Offset declared) {
    Offset const found = before + here;
    if (is_last && found < declared)
        lines.fail(lines.end(), fmt::format("the file ends after {} of {} entries", found, declared));
    if (before > declared || found <= declared) return;
    char const* p = next_data_line(lines.begin(), lines.end());
    for (Offset k = before; k < declared; ++k) p = next_data_line(next_line(p, lines.end()), lines.end());
    lines.fail(p, fmt::format("there are more than the declared {} entries", declared));
}

} // namespace espalier
