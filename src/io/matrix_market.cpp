// Checks the declared sizes of a Matrix Market file against the size of the file, and parses its entries.
#include "io/matrix_market.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "core/scalar.hpp"
#include "io/market_lines.hpp"

namespace espalier {

namespace {

// The smallest size of an entry in bytes: a digit and a separator for each number. In coordinate files only
// the indices count. The parser states the line of an entry without a value.
Offset smallest_entry(MarketHeader const& header) {
    if (!header.array) return 4;
    return header.field == MarketField::complex ? 4 : 2;
}

void require_room_for(Source const& source, MarketHeader const& header, Offset entries, Offset bytes) {
    if (entries > (bytes + 1) / smallest_entry(header))
        source.fail(header.size_line,
                    fmt::format("{} entries are declared, but only {} bytes follow", entries, bytes));
}

// rows * cols, if a dense block of that size may be allocated.
Offset dense_size(Source const& source, MarketHeader const& header, Offset limit) {
    Index const largest = Index{1} << 40;
    Offset size = 0;
    if (header.rows > largest || header.cols > largest ||
        __builtin_mul_overflow(header.rows, header.cols, &size) || size > limit)
        source.fail(header.size_line, fmt::format("a dense {} x {} block is too large for this file",
                                                  header.rows, header.cols));
    return size;
}

Source lines_of(Source const& source, MarketHeader const& header) {
    return {{header.body, source.end()}, source.name(), source.line_of(header.body)};
}

AnyDense read_array(Source const& lines, MarketHeader const& header, Offset size, int threads) {
    return std::visit(
        [&]<class T>(Pieces<T> const& pieces) -> AnyDense {
            require_count(lines, 0, total_size(pieces), true, size);
            DenseMatrix<T> dense{header.rows, header.cols, {}};
            dense.values.reserve(size);
            for (auto const& piece : pieces)
                dense.values.insert(dense.values.end(), piece.begin(), piece.end());
            return dense;
        },
        parse_array_lines(lines, header, threads));
}

bool stores_triangle(MarketHeader const& header) {
    return header.symmetry != DeclaredSymmetry::general;
}

// A symmetric or Hermitian array has its lower triangle, a skew-symmetric one only the rows below the
// diagonal.
Index first_row_of(MarketHeader const& header, Index col) {
    if (!stores_triangle(header)) return 0;
    return header.symmetry == DeclaredSymmetry::skew_symmetric ? col + 1 : col;
}

// The number of entries of an array file.
Offset array_entries(Source const& source, MarketHeader const& header, Offset bytes) {
    if (!stores_triangle(header)) return dense_size(source, header, bytes + 1);
    if (header.rows != header.cols)
        source.fail(header.size_line, fmt::format("a {} x {} array cannot be declared {}", header.rows,
                                                  header.cols, header.words));
    Offset const square = dense_size(source, header, 2 * (bytes + 1));
    return header.symmetry == DeclaredSymmetry::skew_symmetric ? (square - header.rows) / 2
                                                               : (square + header.rows) / 2;
}

// The entries of an array file that are not zero.
AnyTriples read_array_entries(Source const& lines, MarketHeader const& header, Offset entries, int threads) {
    return std::visit(
        [&]<class T>(Pieces<T> const& pieces) -> AnyTriples {
            require_count(lines, 0, total_size(pieces), true, entries);
            Triples<T> triples(1);
            Index row = first_row_of(header, 0), col = 0;
            for (auto const& piece : pieces)
                for (T const value : piece) {
                    if (value != T(0)) triples.front().push_back({row, col, value});
                    if (++row == header.rows) row = first_row_of(header, ++col);
                }
            return triples;
        },
        parse_array_lines(lines, header, threads));
}

AnyTriples read_entries(Source const& lines, MarketHeader const& header, int threads) {
    auto triples = parse_entry_lines(lines, header, threads);
    Offset const found = std::visit([](auto const& pieces) { return total_size(pieces); }, triples);
    require_count(lines, 0, found, true, header.entries);
    return triples;
}

} // namespace

void check_matrix_head(Source const& source, MarketHeader const& header, Offset bytes) {
    Offset const entries = header.array ? array_entries(source, header, bytes) : header.entries;
    require_room_for(source, header, entries, bytes);
    auto const absurd = absurd_sizes(header.rows, header.cols, entries);
    if (!absurd.empty()) source.fail(header.size_line, absurd);
}

void check_dense_head(Source const& source, MarketHeader const& header, Offset bytes) {
    if (header.symmetry != DeclaredSymmetry::general)
        source.fail(
            source.begin(),
            fmt::format("right-hand sides and other dense blocks must be stored as 'general'; this {} is not",
                        header.array ? "array" : "coordinate file"),
            Status::unsupported);
    if (header.array) {
        Offset const size = dense_size(source, header, bytes + 1);
        require_room_for(source, header, size, bytes);
    } else {
        require_room_for(source, header, header.entries, bytes);
        Offset const always_allowed = 100'000'000;
        dense_size(source, header, always_allowed + 16 * header.entries);
    }
}

CoordinateData without_entries(std::string const& name, MarketHeader const& header) {
    CoordinateData data;
    data.source = name;
    data.rows = header.rows;
    data.cols = header.cols;
    data.declared = header.symmetry;
    data.description.format = "Matrix Market";
    data.description.declared = header.words;
    data.description.entries_in_file = header.entries;
    if (header.field == MarketField::pattern)
        data.description.notes.push_back("a pattern without values; every value is 1");
    return data;
}

template <class T> DenseMatrix<T> scatter(Index rows, Index cols, Index first_row, Triples<T> const& triples,
                                          std::string const& name) {
    DenseMatrix<T> dense{rows, cols, std::vector<T>(rows * cols)};
    for (auto const& piece : triples)
        for (auto const& entry : piece) dense.column(entry.col)[entry.row - first_row] += entry.value;
    if (!std::all_of(dense.values.begin(), dense.values.end(), is_finite<T>))
        throw Error(Status::bad_input,
                    fmt::format("{}: the sum of the duplicates of an entry overflows a double", name));
    return dense;
}

CoordinateData parse_matrix_market(Source const& source, int threads) {
    MarketHeader const header = parse_market_header(source);
    check_matrix_head(source, header, source.end() - header.body);
    CoordinateData data = without_entries(source.name(), header);
    if (!header.array) {
        data.triples = read_entries(lines_of(source, header), header, threads);
        return data;
    }
    Offset const entries = array_entries(source, header, source.end() - header.body);
    data.triples = read_array_entries(lines_of(source, header), header, entries, threads);
    data.description.entries_in_file = entries;
    Offset const zeros =
        entries - std::visit([](auto const& triples) { return total_size(triples); }, data.triples);
    data.description.notes.push_back(
        zeros == 0 ? "a dense array"
                   : fmt::format("a dense array; {} not stored", counted(zeros, "zero is", "zeros are")));
    return data;
}

AnyDense parse_matrix_market_dense(Source const& source, int threads) {
    MarketHeader const header = parse_market_header(source);
    check_dense_head(source, header, source.end() - header.body);
    Source const lines = lines_of(source, header);
    if (header.array) return read_array(lines, header, header.rows * header.cols, threads);
    return std::visit(
        [&]<class T>(Triples<T> const& triples) -> AnyDense {
            return scatter(header.rows, header.cols, 0, triples, source.name());
        },
        read_entries(lines, header, threads));
}

template DenseMatrix<double> scatter(Index, Index, Index, Triples<double> const&, std::string const&);
template DenseMatrix<std::complex<double>> scatter(Index, Index, Index, Triples<std::complex<double>> const&,
                                                   std::string const&);

} // namespace espalier
