// A Matrix Market file that several readers share: what its head says, and the lines of each. A line is of
// the part in whose range of bytes it begins; the ranges divide evenly what follows the head.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/matrix_market_header.hpp"
#include "io/text_buffer.hpp"

namespace espalier {

struct MarketHead {
    MarketHeader header;  ///< Its pointers are null.
    Offset file_size = 0; ///< Bytes.
    Offset body = 0;      ///< Where the lines begin that follow the size line, in bytes,
    Offset body_line = 0; ///< and the number of the first.
};

template <class Archive> void describe(Archive& archive, MarketHead& head) {
    auto& [array, field, symmetry, words, rows, cols, entries, size_line, body] = head.header;
    archive(array, field, symmetry, words, rows, cols, entries, head.file_size, head.body, head.body_line);
}

/// Of a sparse matrix, or of a dense block. Nothing when the file is not a plain Matrix Market file, or when
/// something is wrong with its head, which the reader of whole files tells.
std::optional<MarketHead> find_matrix_head(std::string const& path);
std::optional<MarketHead> find_dense_head(std::string const& path);

/// Lines of a file, and what holds them.
struct Lines {
    TextBuffer buffer;
    std::string_view text{"", 0};
};

/// Those of part 0 <= part < parts. Error{io_error} when the file cannot be read or has another size than the
/// head says.
Lines read_lines(std::string const& path, MarketHead const& head, int part, int parts);

} // namespace espalier
