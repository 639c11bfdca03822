#include "matrix/matrix_market.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "matrix/run_threads.hpp"

namespace espalier {

namespace {

enum class Field { real, integer, complex, pattern };

struct Header {
    bool array = false;
    Field field = Field::real;
    DeclaredSymmetry symmetry = DeclaredSymmetry::general;
    std::string words; // "coordinate real symmetric", in lower case.
    Index rows = 0;
    Index cols = 0;
    Offset entries = 0;              // Of a coordinate file, as declared.
    char const* size_line = nullptr;
    char const* body = nullptr;      // The line after the size line.
};

std::string lower_case(std::string_view word) {
    std::string result(word);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

bool is_data(char const* p, char const* end) { return p != end && *p != '\n' && *p != '%'; }

// The first non-blank character of the next line that is neither blank nor a comment, or `end`.
char const* next_data_line(char const* p, char const* end) {
    for (p = skip_blanks(p, end); p != end && !is_data(p, end); p = skip_blanks(p, end)) p = next_line(p, end);
    return p;
}

Field parse_field(Source const& source, std::string const& word) {
    if (word == "real" || word == "double") return Field::real;
    if (word == "integer") return Field::integer;
    if (word == "complex") return Field::complex;
    if (word == "pattern") return Field::pattern;
    source.fail(source.begin(), fmt::format("{} is not a Matrix Market field (real, integer, complex, pattern)", quoted(word)));
}

DeclaredSymmetry parse_symmetry(Source const& source, std::string const& word) {
    if (word == "general") return DeclaredSymmetry::general;
    if (word == "symmetric") return DeclaredSymmetry::symmetric;
    if (word == "hermitian") return DeclaredSymmetry::hermitian;
    if (word == "skew-symmetric") return DeclaredSymmetry::skew_symmetric;
    source.fail(source.begin(), fmt::format("{} is not a Matrix Market symmetry (general, symmetric, skew-symmetric, hermitian)",
                                            quoted(word)));
}

void parse_banner(Source const& source, Header& header) {
    char const* p = source.begin();
    char const* const end = line_end(p, source.end());
    std::vector<std::string> words;
    for (p = skip_blanks(p, end); p != end && words.size() < 6; p = skip_blanks(p, end)) {
        auto const token = token_at(p, end);
        words.push_back(lower_case(token));
        p += token.size();
    }
    if (words.size() != 5 || words[0] != "%%matrixmarket")
        source.fail(source.begin(), "the banner must be '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    if (words[1] != "matrix") source.fail(source.begin(), fmt::format("the file holds a {}, not a matrix", quoted(words[1])));
    header.array = words[2] == "array";
    if (!header.array && words[2] != "coordinate")
        source.fail(source.begin(), fmt::format("{} is not a Matrix Market format (coordinate, array)", quoted(words[2])));
    header.field = parse_field(source, words[3]);
    header.symmetry = parse_symmetry(source, words[4]);
    header.words = fmt::format("{} {} {}", words[2], words[3], words[4]);
    if (header.field == Field::pattern && (header.array || header.symmetry == DeclaredSymmetry::skew_symmetric))
        source.fail(source.begin(), fmt::format("a pattern cannot be {}", header.array ? "an array" : "skew-symmetric"));
}

void parse_size_line(Source const& source, Header& header) {
    char const* const end = source.end();
    char const* p = next_data_line(next_line(source.begin(), end), end);
    header.size_line = p;
    if (p == end) source.fail(p, "the size line is missing");
    Index* const sizes[] = {&header.rows, &header.cols, &header.entries};
    for (int k = 0; k < (header.array ? 2 : 3); ++k) {
        p = skip_blanks(p, end);
        char const* const after = parse_integer(p, end, *sizes[k]);
        if (!after)
            source.fail(p, fmt::format("size line (rows, columns{}): {}", header.array ? "" : ", entries", bad_integer(p, end)));
        if (*sizes[k] < 0) source.fail(p, fmt::format("size line: {} is negative", *sizes[k]));
        p = after;
    }
    p = skip_blanks(p, end);
    if (p != end && *p != '\n') source.fail(p, fmt::format("size line: unexpected {}", quoted(token_at(p, end))));
    header.body = next_line(p, end);
}

Header parse_header(Source const& source) {
    Header header;
    parse_banner(source, header);
    parse_size_line(source, header);
    return header;
}

// The value of one entry, for each field; null when there is none at p.
struct RealValue {
    using type = double;
    static char const* parse(char const* p, char const* end, double& value) { return parse_real(p, end, value); }
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
template <class Visit> auto with_value_of(Field field, Visit const& visit) {
    switch (field) {
    case Field::integer: return visit(IntegerValue{});
    case Field::complex: return visit(ComplexValue{});
    case Field::pattern: return visit(PatternValue{});
    case Field::real: break;
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
inline char const* take_index(Source const& source, char const* p, Index size, char const* what, Index& index) {
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
template <class Value>
std::vector<Triple<typename Value::type>> parse_piece(Source const& source, Header const& header, std::string_view piece) {
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
template <class Parse> auto parse_in_pieces(Source const& source, Header const& header, int threads, Parse const& parse) {
    std::string_view const body(header.body, static_cast<std::size_t>(source.end() - header.body));
    auto const pieces = split_at_line_ends(body, team_size(threads));
    std::vector<decltype(parse(body))> parsed(pieces.size());
    run_threads(static_cast<int>(pieces.size()), [&](int t) { parsed[t] = parse(pieces[t]); });
    return parsed;
}

template <class T> Offset total_size(std::vector<std::vector<T>> const& pieces) {
    return std::accumulate(pieces.begin(), pieces.end(), Offset{0},
                           [](Offset sum, auto const& piece) { return sum + static_cast<Offset>(piece.size()); });
}

void require_count(Source const& source, Header const& header, Offset found, Offset declared) {
    if (found < declared)
        source.fail(source.end(), fmt::format("the file ends after {} of {} entries", found, declared));
    if (found == declared) return;
    char const* p = next_data_line(header.body, source.end());
    for (Offset k = 0; k < declared; ++k) p = next_data_line(next_line(p, source.end()), source.end());
    source.fail(p, fmt::format("more than the {} entries that were declared", declared));
}

// An entry takes at least this much: a digit and a separator for each of its numbers.
Offset smallest_entry(Header const& header) {
    int const indices = header.array ? 0 : 2;
    int const values = header.field == Field::pattern ? 0 : header.field == Field::complex ? 2 : 1;
    return 2 * (indices + values);
}

void require_room_for(Source const& source, Header const& header, Offset entries) {
    Offset const bytes = source.end() - header.body;
    if (entries > (bytes + 1) / smallest_entry(header))
        source.fail(header.size_line, fmt::format("{} entries are declared, but only {} bytes follow", entries, bytes));
}

void require_sane_sizes(Source const& source, Header const& header) {
    require_room_for(source, header, header.entries);
    auto const absurd = absurd_sizes(header.rows, header.cols, header.entries);
    if (!absurd.empty()) source.fail(header.size_line, absurd);
}

AnyTriples parse_entries(Source const& source, Header const& header, int threads) {
    return with_value_of(header.field, [&]<class Value>(Value) -> AnyTriples {
        auto triples = parse_in_pieces(source, header, threads, [&](std::string_view piece) {
            return parse_piece<Value>(source, header, piece);
        });
        require_count(source, header, total_size(triples), header.entries);
        return triples;
    });
}

// rows * cols, when a dense block of that size may be allocated.
Offset dense_size(Source const& source, Header const& header, Offset limit) {
    Index const largest = Index{1} << 40;
    Offset size = 0;
    if (header.rows > largest || header.cols > largest || __builtin_mul_overflow(header.rows, header.cols, &size) ||
        size > limit)
        source.fail(header.size_line, fmt::format("a dense {} x {} block is too large for this file", header.rows, header.cols));
    return size;
}

AnyDense parse_array(Source const& source, Header const& header, int threads) {
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

AnyDense scatter_coordinates(Source const& source, Header const& header, int threads) {
    if (header.symmetry != DeclaredSymmetry::general)
        source.fail(source.begin(), "only a general coordinate file can be read as a dense block", Status::unsupported);
    require_room_for(source, header, header.entries);
    Offset const always_allowed = 100'000'000;
    Offset const size = dense_size(source, header, always_allowed + 16 * header.entries);
    auto const scatter = [&]<class T>(Triples<T> const& triples) -> AnyDense {
        DenseMatrix<T> dense{header.rows, header.cols, std::vector<T>(size)};
        for (auto const& piece : triples)
            for (auto const& entry : piece) dense.column(entry.col)[entry.row] += entry.value;
        if (!std::all_of(dense.values.begin(), dense.values.end(), is_finite<T>))
            throw Error(Status::bad_input, source.name() + ": duplicates of an entry sum to more than a double holds");
        return dense;
    };
    return std::visit(scatter, parse_entries(source, header, threads));
}

} // namespace

bool is_matrix_market(std::string_view text) {
    std::string_view const banner = "%%matrixmarket";
    return lower_case(text.substr(0, banner.size())) == banner;
}

CoordinateData parse_matrix_market(Source const& source, int threads) {
    Header const header = parse_header(source);
    if (header.array)
        source.fail(source.begin(), "an array (dense) file, not a sparse matrix: 'coordinate' is needed", Status::unsupported);
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
    if (header.field == Field::pattern) data.description.notes.push_back("a pattern without values: every value is 1");
    return data;
}

AnyDense parse_matrix_market_dense(Source const& source, int threads) {
    Header const header = parse_header(source);
    return header.array ? parse_array(source, header, threads) : scatter_coordinates(source, header, threads);
}

} // namespace espalier
