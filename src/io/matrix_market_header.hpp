// The head of a Matrix Market file: its banner and its size line. In: the text; out: what the file says it
// holds, and where its entries begin.
#pragma once

#include <string>

#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

enum class MarketField { real, integer, complex, pattern };

/// The banner and the size line.
struct MarketHeader {
    bool array = false;
    MarketField field = MarketField::real;
    DeclaredSymmetry symmetry = DeclaredSymmetry::general;
    std::string words; // "coordinate real symmetric", in lower case.
    Index rows = 0;
    Index cols = 0;
    Offset entries = 0; // Of a coordinate file, as declared.
    char const* size_line = nullptr;
    char const* body = nullptr; // The line after the size line.
};

/// Error{bad_input} as "name:line: what". The sizes are not negative, and not yet held against the file.
MarketHeader parse_market_header(Source const& source);

/// The first non-blank character, from p on, of a line that is neither blank nor a comment, or `end`.
inline char const* next_data_line(char const* p, char const* end) {
    for (p = skip_blanks(p, end); p != end && (*p == '\n' || *p == '%'); p = skip_blanks(p, end))
        p = next_line(p, end);
    return p;
}

} // namespace espalier
