// A Matrix Market file that several processes read in parts. The bytes after the head are divided evenly; a
// line belongs to the part that contains its first byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "io/input_file.hpp"
#include "io/matrix_market_header.hpp"

namespace espalier {

struct MarketHead {
    MarketHeader header;  ///< Banner and sizes; the pointers are null.
    Offset file_size = 0; ///< Size of the file in bytes.
    Offset body = 0;      ///< Position in bytes of the first line after the size line.
    Offset body_line = 0; ///< Number of that line, from 1.
};

/// For messages between processes (core/pack.hpp).
template <class Archive> void describe(Archive& archive, MarketHead& head) {
    auto& [array, field, symmetry, words, rows, cols, entries, size_line, body] = head.header;
    archive(array, field, symmetry, words, rows, cols, entries, head.file_size, head.body, head.body_line);
}

/// Reads the head of a sparse matrix. Returns nothing if the file is not an uncompressed Matrix Market file,
/// or if the head is invalid; read_matrix() then reports the error.
std::optional<MarketHead> find_matrix_head(std::string const& path);
std::optional<MarketHead> find_dense_head(std::string const& path);

struct Lines {
    TextBuffer buffer;            ///< Owns the characters.
    std::string_view text{"", 0}; ///< The lines.
};

/// Reads the lines of part 0 <= part < parts. Throws Error{io_error} if the file cannot be read or its size
/// differs from head.file_size.
Lines read_lines(std::string const& path, MarketHead const& head, int part, int parts);

} // namespace espalier
