// The body of a Matrix Market file: cut at line ends into one piece per thread, each parsed into its own
// array. One parser for coordinates and one for arrays, over the kind of value.
#include "matrix/matrix_market.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "matrix/matrix_market_header.hpp"
#include "matrix/run_threads.hpp"

namespace espalier {

namespace {

// The value of one entry, for each field; null when there is none at p.
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

// Call visit(value type) for the field.
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

// Why Value::parse found nothing at p.
template <class Value> [[noreturn]] void fail_value(Source const& source, char const* p) {
    char const* const end = source.end();
    if constexpr (std::is_same_v<Value, IntegerValue>) source.fail(p, "value: " + bad_integer(p, end));
    double re = 0;
    char const* const imaginary = parse_real(p, end, re);
    if (!imaginary) source.fail(p, "value: " + bad_real(p, end));
    source.fail(p, "imaginary part: " + bad_real(skip_blanks(imaginary, end), end));
}

// A 1-based index in 1 .. size, made 0-based.
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
    if (*p != '\n') source.fail(p, fmt::format("unexpected {} after the entry", quoted(token_at(p, end))));
    return p + 1;
}

// The triples of the lines in `piece`. Lines are counted first: an exact reservation is cheaper than growth.
template <class Value> std::vector<Triple<typename Value::type>>
parse_piece(Source const& source, MarketHeader const& header, std::string_view piece) {
    std::vector<Triple<typename Value::type>> triples;
    triples.reserve(std::min<std::size_t>(std::count(piece.begin(), piece.end(), '\n') + 1, header.entries));
    char const* p = piece.data();
    char const* const end = p + piece.size();
    while ((p = next_data_line(p, end)) != end) {
        Triple<typename Value::type> entry;
        p = skip_blanks(take_index(source, p, header.rows, "row", entry.row), end);
        p = skip_blanks(take_index(source, p, header.cols, "column", entry.col), end);
        char const* const after = Value::parse(p, end, entry.value);
        if (!after) fail_value<Value>(source, p);
        p = finish_line(source, after, end);
        triples.push_back(entry);
    }
    return triples;
}

// The values of the lines in `piece` of an array file.
template <class Value>
std::vector<typename Value::type> parse_array_piece(Source const& source, std::string_view piece) {
    std::vector<typename Value::type> values;
    values.reserve(std::count(piece.begin(), piece.end(), '\n') + 1);
    char const* p = piece.data();
    char const* const end = p + piece.size();
    while ((p = next_data_line(p, end)) != end) {
        typename Value::type value;
        char const* const after = Value::parse(p, end, value);
        if (!after) fail_value<Value>(source, p);
        p = finish_line(source, after, end);
        values.push_back(value);
    }
    return values;
}

// Parse the body in pieces, one per thread; the first error in the order of the file is the one reported.
template <class Parse>
auto parse_in_pieces(Source const& source, MarketHeader const& header, int threads, Parse const& parse) {
    std::string_view const body(header.body, static_cast<std::size_t>(source.end() - header.body));
    auto const pieces = split_at_line_ends(body, team_size(threads));
    std::vector<decltype(parse(body))> parsed(pieces.size());
    run_threads(static_cast<int>(pieces.size()), [&](int t) { parsed[t] = parse(pieces[t]); });
    return parsed;
}

template <class T> Offset total_size(std::vector<std::vector<T>> const& pieces) {
    return std::accumulate(pieces.begin(), pieces.end(), Offset{0}, [](Offset sum, auto const& piece) {
        return sum + static_cast<Offset>(piece.size());
    });
}

void require_count(Source const& source, MarketHeader const& header, Offset found, Offset declared) {
    if (found < declared)
        source.fail(source.end(), fmt::format("the file ends after {} of {} entries", found, declared));
    if (found == declared) return;
    char const* p = next_data_line(header.body, source.end());
    for (Offset k = 0; k < declared; ++k) p = next_data_line(next_line(p, source.end()), source.end());
    source.fail(p, fmt::format("more than the {} entries that were declared", declared));
}

// An entry takes at least this much: a digit and a separator for each of its numbers.
Offset smallest_entry(MarketHeader const& header) {
    int const indices = header.array ? 0 : 2;
    int const values = header.field == MarketField::pattern   ? 0
                       : header.field == MarketField::complex ? 2
                                                              : 1;
    return 2 * (indices + values);
}

void require_room_for(Source const& source, MarketHeader const& header, Offset entries) {
    Offset const bytes = source.end() - header.body;
    if (entries > (bytes + 1) / smallest_entry(header))
        source.fail(header.size_line,
                    fmt::format("{} entries are declared, but only {} bytes follow", entries, bytes));
}

void require_sane_sizes(Source const& source, MarketHeader const& header) {
    require_room_for(source, header, header.entries);
    auto const absurd = absurd_sizes(header.rows, header.cols, header.entries);
    if (!absurd.empty()) source.fail(header.size_line, absurd);
}

AnyTriples parse_entries(Source const& source, MarketHeader const& header, int threads) {
    return with_value_of(header.field, [&]<class Value>(Value) -> AnyTriples {
        auto triples = parse_in_pieces(source, header, threads, [&](std::string_view piece) {
            return parse_piece<Value>(source, header, piece);
        });
        require_count(source, header, total_size(triples), header.entries);
        return triples;
    });
}

// rows * cols, when a dense block of that size may be allocated.
Offset dense_size(Source const& source, MarketHeader const& header, Offset limit) {
    Index const largest = Index{1} << 40;
    Offset size = 0;
    if (header.rows > largest || header.cols > largest ||
        __builtin_mul_overflow(header.rows, header.cols, &size) || size > limit)
        source.fail(header.size_line, fmt::format("a dense {} x {} block is too large for this file",
                                                  header.rows, header.cols));
    return size;
}

AnyDense parse_array(Source const& source, MarketHeader const& header, int threads) {
    if (header.symmetry != DeclaredSymmetry::general)
        source.fail(source.begin(), "only a general array can be read as a dense block", Status::unsupported);
    Offset const size = dense_size(source, header, source.end() - header.body + 1);
    require_room_for(source, header, size);
    return with_value_of(header.field, [&]<class Value>(Value) -> AnyDense {
        using T = typename Value::type;
        auto const pieces = parse_in_pieces(source, header, threads, [&](std::string_view piece) {
            return parse_array_piece<Value>(source, piece);
        });
        require_count(source, header, total_size(pieces), size);
        DenseMatrix<T> dense{header.rows, header.cols, {}};
        dense.values.reserve(size);
        for (auto const& piece : pieces) dense.values.insert(dense.values.end(), piece.begin(), piece.end());
        return dense;
    });
}

AnyDense scatter_coordinates(Source const& source, MarketHeader const& header, int threads) {
    if (header.symmetry != DeclaredSymmetry::general)
        source.fail(source.begin(), "only a general coordinate file can be read as a dense block",
                    Status::unsupported);
    require_room_for(source, header, header.entries);
    Offset const always_allowed = 100'000'000;
    Offset const size = dense_size(source, header, always_allowed + 16 * header.entries);
    auto const scatter = [&]<class T>(Triples<T> const& triples) -> AnyDense {
        DenseMatrix<T> dense{header.rows, header.cols, std::vector<T>(size)};
        for (auto const& piece : triples)
            for (auto const& entry : piece) dense.column(entry.col)[entry.row] += entry.value;
        if (!std::all_of(dense.values.begin(), dense.values.end(), is_finite<T>))
            throw Error(Status::bad_input,
                        source.name() + ": duplicates of an entry sum to more than a double holds");
        return dense;
    };
    return std::visit(scatter, parse_entries(source, header, threads));
}

} // namespace

CoordinateData parse_matrix_market(Source const& source, int threads) {
    MarketHeader const header = parse_market_header(source);
    if (header.array)
        source.fail(source.begin(), "an array (dense) file, not a sparse matrix: 'coordinate' is needed",
                    Status::unsupported);
    require_sane_sizes(source, header);
    CoordinateData data;
    data.source = source.name();
    data.rows = header.rows;
    data.cols = header.cols;
    data.declared = header.symmetry;
    data.triples = parse_entries(source, header, threads);
    data.description.format = "Matrix Market";
    data.description.declared = header.words;
    data.description.entries_in_file = header.entries;
    if (header.field == MarketField::pattern)
        data.description.notes.push_back("a pattern without values: every value is 1");
    return data;
}

AnyDense parse_matrix_market_dense(Source const& source, int threads) {
    MarketHeader const header = parse_market_header(source);
    return header.array ? parse_array(source, header, threads) : scatter_coordinates(source, header, threads);
}

} // namespace espalier
