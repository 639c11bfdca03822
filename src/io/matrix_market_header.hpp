// The head of a Matrix Market file: banner and size line. Input: the text; output: the declared content, and
// the beginning of the entries.
#pragma once

#include <string>

#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

enum class MarketField { real, integer, complex, pattern };

struct MarketHeader {
    bool array = false;                                    ///< Format array instead of coordinate.
    MarketField field = MarketField::real;                 ///< Field.
    DeclaredSymmetry symmetry = DeclaredSymmetry::general; ///< Symmetry.
    std::string words;  ///< Format, field and symmetry in lower case, e.g. "coordinate real general".
    Index rows = 0;     ///< Declared number of rows.
    Index cols = 0;     ///< Declared number of columns.
    Offset entries = 0; ///< Declared number of entries of a coordinate file.
    char const* size_line = nullptr; ///< Beginning of the size line.
    char const* body = nullptr;      ///< Beginning of the line after the size line.
};

/// Parses the head. The sizes are not negative, but not yet checked against the file. Throws Error{bad_input}
/// "name:line: ...".
MarketHeader parse_market_header(Source const& source);

/// The first non-blank character at or after p in a line that is neither blank nor a comment, or `end`.
inline char const* next_data_line(char const* p, char const* end) {
    for (p = skip_blanks(p, end); p != end && (*p == '\n' || *p == '%'); p = skip_blanks(p, end))
        p = next_line(p, end);
    return p;
}

} // namespace espalier
