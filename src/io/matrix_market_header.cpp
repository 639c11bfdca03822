#include "io/matrix_market_header.hpp"

#include <vector>

#include <fmt/format.h>

#include "io/matrix_market.hpp"

namespace espalier {

namespace {

std::string lower_case(std::string_view word) {
    std::string result(word);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

MarketField parse_field(Source const& source, std::string const& word) {
    if (word == "real" || word == "double") return MarketField::real;
    if (word == "integer") return MarketField::integer;
    if (word == "complex") return MarketField::complex;
    if (word == "pattern") return MarketField::pattern;
    source.fail(
        source.begin(),
        fmt::format("{} is not a Matrix Market field (real, integer, complex, pattern)", in_quotes(word)));
}

DeclaredSymmetry parse_symmetry(Source const& source, std::string const& word) {
    if (word == "general") return DeclaredSymmetry::general;
    if (word == "symmetric") return DeclaredSymmetry::symmetric;
    if (word == "hermitian") return DeclaredSymmetry::hermitian;
    if (word == "skew-symmetric") return DeclaredSymmetry::skew_symmetric;
    source.fail(
        source.begin(),
        fmt::format("{} is not a Matrix Market symmetry (general, symmetric, skew-symmetric, hermitian)",
                    in_quotes(word)));
}

void parse_banner(Source const& source, MarketHeader& header) {
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
    if (words[1] != "matrix")
        source.fail(source.begin(), fmt::format("the file holds a {}, not a matrix", in_quotes(words[1])));
    header.array = words[2] == "array";
    if (!header.array && words[2] != "coordinate")
        source.fail(source.begin(),
                    fmt::format("{} is not a Matrix Market format (coordinate, array)", in_quotes(words[2])));
    header.field = parse_field(source, words[3]);
    header.symmetry = parse_symmetry(source, words[4]);
    header.words = fmt::format("{} {} {}", words[2], words[3], words[4]);
    if (header.field == MarketField::pattern &&
        (header.array || header.symmetry == DeclaredSymmetry::skew_symmetric))
        source.fail(source.begin(), fmt::format("a pattern matrix cannot be {}",
                                                header.array ? "an array" : "skew-symmetric"));
}

void parse_size_line(Source const& source, MarketHeader& header) {
    char const* const end = source.end();
    char const* p = next_data_line(next_line(source.begin(), end), end);
    header.size_line = p;
    if (p == end) source.fail(p, "the size line is missing");
    Index* const sizes[] = {&header.rows, &header.cols, &header.entries};
    for (int k = 0; k < (header.array ? 2 : 3); ++k) {
        p = skip_blanks(p, end);
        char const* const after = parse_integer(p, end, *sizes[k]);
        if (!after)
            source.fail(p, fmt::format("size line (rows, columns{}): {}", header.array ? "" : ", entries",
                                       bad_integer(p, end)));
        if (*sizes[k] < 0) source.fail(p, fmt::format("size line: {} is negative", *sizes[k]));
        p = after;
    }
    p = skip_blanks(p, end);
    if (p != end && *p != '\n')
        source.fail(p, fmt::format("size line: unexpected {}", in_quotes(token_at(p, end))));
    header.body = next_line(p, end);
}

} // namespace

bool is_matrix_market(std::string_view text) {
    std::string_view const banner = "%%matrixmarket";
    return lower_case(text.substr(0, banner.size())) == banner;
}

MarketHeader parse_market_header(Source const& source) {
    MarketHeader header;
    parse_banner(source, header);
    parse_size_line(source, header);
    return header;
}

} // namespace espalier
