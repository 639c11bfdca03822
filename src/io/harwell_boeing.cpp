// Parses the header and two or three sections of numbers (fixed_section.hpp), checks them against each other
// and converts them to triples.
#include "io/harwell_boeing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "core/run_threads.hpp"
#include "io/fixed_section.hpp"

namespace espalier {

namespace {

// The non-negative integers of a line; nothing if the line contains anything else or more than `most` of
// them.
std::optional<std::vector<Index>> integers_of(std::string_view line, std::size_t most) {
    std::vector<Index> values;
    char const* const end = line.data() + line.size();
    for (char const* p = skip_blanks(line.data(), end); p != end; p = skip_blanks(p, end)) {
        Index value = 0;
        p = parse_integer(p, end, value);
        if (!p || value < 0 || values.size() == most) return std::nullopt;
        values.push_back(value);
    }
    return values;
}

struct Header {
    std::string type; // e.g. "rsa", in lower case
    std::array<Index, 5>
        lines{}; // number of lines of the body, the pointers, row indices, values and right-hand sides
    bool harwell = false; // only Harwell-Boeing has a count of lines of right-hand sides
    Index rows = 0;
    Index cols = 0;
    Offset entries = 0;
    char const* size_line = nullptr;
    char const* format_line = nullptr;
    char const* body = nullptr;
    [[nodiscard]] bool has_values() const { return type[0] != 'p'; }
    [[nodiscard]] bool is_complex() const { return type[0] == 'c'; }
};

// Parses lines 2 and 3; p is the beginning of line 2. Returns nothing if they are not those of such a file.
std::optional<Header> parse_counts(char const* p, char const* end) {
    Header header;
    auto const counts = integers_of(line_at(p, end), 5);
    if (!counts || counts->size() < 4) return std::nullopt;
    std::copy(counts->begin(), counts->end(), header.lines.begin());
    header.harwell = counts->size() == 5;

    p = next_line(p, end);
    header.size_line = p;
    auto const line = line_at(p, end);
    char const* const first = skip_blanks(p, p + line.size());
    header.type = token_at(first, p + line.size());
    for (char& c : header.type) c = static_cast<char>(c | 0x20);
    if (header.type.size() != 3 || !std::strchr("rcpiq", header.type[0]) ||
        !std::strchr("ushzr", header.type[1]) || !std::strchr("aex", header.type[2]))
        return std::nullopt;
    auto const sizes = integers_of(line.substr(first + 3 - line.data()), 4);
    if (!sizes || sizes->size() < 3) return std::nullopt;
    header.rows = (*sizes)[0];
    header.cols = (*sizes)[1];
    header.entries = (*sizes)[2];
    header.format_line = next_line(p, end);
    header.body = next_line(header.format_line, end);
    if (header.lines[4] > 0) header.body = next_line(header.body, end);
    return header;
}

// The k-th (...) of the format line with its nested parentheses. The first two formats have 16 columns each;
// one whose columns are blank is missing. Fewer blanks between formats are accepted anywhere.
std::vector<FixedField> format_at(Source const& source, Header const& header, int k) {
    constexpr std::size_t columns = 16;
    auto const line = line_at(header.format_line, source.end());
    auto rest = line;
    for (int seen = 0;; ++seen) {
        auto const first = rest.find('(');
        std::size_t const column = line.size() - rest.size() + first;
        if (first == std::string_view::npos ||
            (seen < 2 && first >= columns && column >= columns * static_cast<std::size_t>(seen + 1)))
            source.fail(header.format_line, fmt::format("format {} is missing", seen + 1));
        std::size_t last = first;
        int depth = 0;
        do {
            depth += rest[last] == '(';
            depth -= rest[last] == ')';
            ++last;
        } while (depth > 0 && last < rest.size());
        if (seen == k) {
            try {
                return parse_fortran_format(rest.substr(first, last - first));
            } catch (Error const& error) {
                source.fail(header.format_line, error.what(), error.status());
            }
        }
        rest.remove_prefix(last);
    }
}

void check_pointers(Source const& source, FixedSection const& section, std::vector<Index> const& pointers,
                    Offset entries) {
    auto const fail = [&](Offset k, std::string const& what) {
        source.fail(section.line_of(k), fmt::format("{}: {}", section.what(), what));
    };
    if (pointers.front() != 1) fail(0, fmt::format("the first is {}, not 1", pointers.front()));
    for (Offset k = 1; k < std::ssize(pointers); ++k)
        if (pointers[k] < pointers[k - 1])
            fail(k, fmt::format("{} follows {}", pointers[k], pointers[k - 1]));
    if (pointers.back() != entries + 1)
        fail(std::ssize(pointers) - 1,
             fmt::format("the last is {}, but the header declares {} entries", pointers.back(), entries));
}

// Entry k has the value value_of(k).
template <class T, class ValueOf> Triples<T> make_triples(std::vector<Index> const& pointers,
                                                          std::vector<Index> const& rows, int threads,
                                                          ValueOf const& value_of) {
    Index const cols = std::ssize(pointers) - 1;
    auto const count = rows.size() < 100'000 ? 1 : team_size(threads);
    Triples<T> triples(count);
    run_threads(count, [&](int t) {
        Index const end = cols * (t + 1) / count;
        Index const begin = cols * t / count;
        triples[t].reserve(pointers[end] - pointers[begin]);
        for (Index j = begin; j < end; ++j)
            for (Offset k = pointers[j] - 1; k < pointers[j + 1] - 1; ++k)
                triples[t].push_back({rows[k] - 1, j, value_of(k)});
    });
    return triples;
}

DeclaredSymmetry symmetry_of(char letter) {
    return letter == 's'   ? DeclaredSymmetry::symmetric
           : letter == 'h' ? DeclaredSymmetry::hermitian
           : letter == 'z' ? DeclaredSymmetry::skew_symmetric
                           : DeclaredSymmetry::general;
}

void require_supported(Source const& source, Header const& header) {
    auto const unsupported = [&](char const* what) {
        source.fail(header.size_line, fmt::format("type {}: {}", header.type, what), Status::unsupported);
    };
    if (header.type[2] == 'e' || header.type[2] == 'x')
        unsupported("elemental matrices are not supported; assemble the matrix first");
    if (header.type[0] == 'q') unsupported("the values are in another file");
    if (header.type[0] == 'p' && header.type[1] == 'z')
        unsupported("a pattern matrix cannot be skew-symmetric");
    if (header.has_values() && header.lines[3] == 0)
        source.fail(
            header.size_line,
            fmt::format("type {} has values, but the header declares no lines of values", header.type));
    Offset const bytes = source.end() - header.body;
    if (header.entries > bytes || header.cols > bytes)
        source.fail(header.size_line,
                    fmt::format("the header declares {} columns and {} entries, but only {} bytes follow",
                                header.cols, header.entries, bytes));
    auto const absurd = absurd_sizes(header.rows, header.cols, header.entries);
    if (!absurd.empty()) source.fail(header.size_line, absurd);
}

void compare_line_counts(FixedSection const& section, Index declared, std::vector<std::string>& notes) {
    if (section.num_lines() != declared)
        notes.push_back(fmt::format("the header declares {} lines of {}, the format needs {}", declared,
                                    section.what(), section.num_lines()));
}

// Only right-hand sides that the header declares may follow the last section.
void check_rest(Source const& source, Header const& header, char const* p, std::vector<std::string>& notes) {
    if (header.lines[4] > 0) {
        notes.push_back("the right-hand sides in the file were not read");
        return;
    }
    char const* const rest =
        std::find_if_not(p, source.end(), [](char c) { return is_blank(c) || c == '\n'; });
    if (rest != source.end())
        source.fail(
            rest, fmt::format("unexpected {} after the last entry", in_quotes(line_at(rest, source.end()))));
}

} // namespace

bool is_harwell_boeing(std::string_view text) {
    char const* const end = text.data() + text.size();
    return parse_counts(next_line(text.data(), end), end).has_value();
}

CoordinateData parse_harwell_boeing(Source const& source, int threads) {
    auto const parsed = parse_counts(next_line(source.begin(), source.end()), source.end());
    if (!parsed) source.fail(source.begin(), "not the header of a Harwell-Boeing or Rutherford-Boeing file");
    Header const& header = *parsed;
    require_supported(source, header);

    CoordinateData data;
    data.source = source.name();
    data.rows = header.rows;
    data.cols = header.cols;
    data.declared = symmetry_of(header.type[1]);
    data.description.format = header.harwell ? "Harwell-Boeing" : "Rutherford-Boeing";
    data.description.declared = header.type;
    data.description.entries_in_file = header.entries;
    auto& notes = data.description.notes;
    if (!header.has_values()) notes.push_back("a pattern without values; every value is 1");

    FixedSection const pointer_lines(source, header.body, "column pointers", format_at(source, header, 0),
                                     header.cols + 1, threads);
    auto const pointers = pointer_lines.integers(1, header.entries + 1);
    check_pointers(source, pointer_lines, pointers, header.entries);
    compare_line_counts(pointer_lines, header.lines[1], notes);

    FixedSection const row_lines(source, pointer_lines.end(), "row indices", format_at(source, header, 1),
                                 header.entries, threads);
    auto const rows = row_lines.integers(1, header.rows);
    compare_line_counts(row_lines, header.lines[2], notes);

    if (!header.has_values()) {
        check_rest(source, header, row_lines.end(), notes);
        data.triples = make_triples<double>(pointers, rows, threads, [](Offset) { return 1.0; });
        return data;
    }
    Offset const count = header.is_complex() ? 2 * header.entries : header.entries;
    FixedSection const value_lines(source, row_lines.end(), "values", format_at(source, header, 2), count,
                                   threads);
    bool implied = false;
    auto const values = value_lines.reals(implied);
    compare_line_counts(value_lines, header.lines[3], notes);
    if (implied)
        notes.push_back("values without a decimal point have one implied by the format, as in Fortran");
    check_rest(source, header, value_lines.end(), notes);

    if (header.is_complex())
        data.triples = make_triples<std::complex<double>>(pointers, rows, threads, [&](Offset k) {
            return std::complex<double>(values[2 * k], values[2 * k + 1]);
        });
    else
        data.triples = make_triples<double>(pointers, rows, threads, [&](Offset k) { return values[k]; });
    return data;
}

} // namespace espalier
