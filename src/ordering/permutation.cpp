#include "ordering/permutation.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/counted.hpp"
#include "core/names.hpp"
#include "core/suggest.hpp"

namespace espalier {

namespace {

// A misspelled name of a method is taken for a file: " (did you mean 'metis'?)"
std::string suggest_method(std::string const& path) {
    std::vector<std::string_view> const methods(std::begin(spellings<OrderingMethod>),
                                                std::end(spellings<OrderingMethod>));
    return did_you_mean(path, methods);
}

// Reads the words of a text file without comments. Longer words than any number are cut, so a binary file
// does not use much memory.
class WordReader {
  public:
    explicit WordReader(std::string const& path) : path_(path), file_(path, std::ios::binary) {
        if (!file_)
            throw Error(Status::io_error,
                        fmt::format("cannot open ordering file '{}'{}", path, suggest_method(path)));
    }

    /// Reads the next word; returns false at the end of the file.
    bool next(std::string& word) {
        word.clear();
        for (int c = peek(); c != end && word.size() < max_word; c = peek()) {
            if (is_blank(c) && !word.empty()) break;
            if (word.empty() && (c == '%' || c == '#'))
                skip_line();
            else if (take(); !is_blank(c))
                word.push_back(static_cast<char>(c));
        }
        if (file_.bad()) throw Error(Status::io_error, fmt::format("cannot read ordering file '{}'", path_));
        return !word.empty();
    }
    /// Returns the first line if it is a Matrix Market banner, else an empty string. Call it first.
    std::string banner() {
        std::string text;
        std::string_view constexpr mark = "%%MatrixMarket";
        while (text.size() < mark.size() && peek() == mark[text.size()])
            text.push_back(static_cast<char>(take()));
        if (text != mark) { // a comment if it starts with %
            if (!text.empty()) skip_line();
            return {};
        }
        while (peek() != end && peek() != '\n' && peek() != '\r' && text.size() < max_banner)
            text.push_back(static_cast<char>(take()));
        skip_line();
        return text;
    }
    [[nodiscard]] Index line() const { return line_; }
    [[noreturn]] void fail(Index line, std::string const& what) const {
        throw Error(Status::bad_input, fmt::format("ordering file '{}', line {}: {}", path_, line, what));
    }

  private:
    static constexpr int end = std::char_traits<char>::eof();
    static constexpr std::size_t max_word = 40;
    static constexpr std::size_t max_banner = 200;

    static bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ','; }
    int peek() { return file_.peek(); }
    int take() {
        int const c = file_.get();
        if (c == '\n') ++line_;
        return c;
    }
    void skip_line() {
        while (peek() != end && peek() != '\n') take();
    }

    std::string path_;
    std::ifstream file_;
    Index line_ = 1;
};

std::string printable(std::string const& word) {
    std::string text = "'";
    for (char const c : word) text += c >= ' ' && c <= '~' ? c : '?';
    return text + "'";
}

Index parse_integer(WordReader const& reader, std::string const& word) {
    Index value = 0;
    auto const [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code == std::errc::result_out_of_range)
        reader.fail(reader.line(), fmt::format("{} is too large", printable(word)));
    if (code != std::errc() || stop != word.data() + word.size())
        reader.fail(reader.line(), fmt::format("{} is not an integer", printable(word)));
    return value;
}

// Checks the banner and the two sizes of a Matrix Market array. The next word is then the first value.
void skip_matrix_market_header(WordReader& reader, std::string const& banner, Index n) {
    if (banner.find(" array ") == std::string::npos || banner.find(" general") == std::string::npos)
        reader.fail(
            1, fmt::format("a permutation must be a Matrix Market 'matrix array integer general', not {}",
                           printable(banner)));
    std::string word;
    Index size[2] = {0, 0};
    for (Index& s : size) {
        if (!reader.next(word)) reader.fail(reader.line(), "the Matrix Market header has no sizes");
        s = parse_integer(reader, word);
    }
    if (!(size[0] == n && size[1] == 1) && !(size[0] == 1 && size[1] == n))
        reader.fail(reader.line(), fmt::format("the array is {} by {}; a permutation of {} rows is needed",
                                               size[0], size[1], n));
}

struct Entry {
    Index value;
    Index line;
};

std::vector<Entry> read_entries(WordReader& reader, std::string const& path, Index n) {
    std::vector<Entry> entries;
    std::string word;
    while (reader.next(word)) {
        Index const line = reader.line();
        Index const value = parse_integer(reader, word);
        if (std::ssize(entries) == n)
            reader.fail(line, fmt::format("more integers than the {} rows of the matrix", n));
        entries.push_back({value, line});
    }
    if (std::ssize(entries) < n)
        throw Error(Status::bad_input,
                    fmt::format("ordering file '{}' has {}; the matrix has {}", path,
                                counted(std::ssize(entries), "integer"), counted(n, "row")));
    return entries;
}

} // namespace

std::vector<Index> invert_permutation(std::vector<Index> const& perm, char const* origin) {
    Index const n = std::ssize(perm);
    std::vector<Index> inverse(perm.size(), -1);
    for (Index old = 0; old < n; ++old) {
        Index const position = perm[old];
        if (position < 0 || position >= n || inverse[position] >= 0)
            throw Error(Status::internal, fmt::format("{} returned an invalid permutation: entry {} is {}",
                                                      origin, old, position));
        inverse[position] = old;
    }
    return inverse;
}

std::vector<Index> read_permutation(std::string const& path, Index n) {
    WordReader reader(path);
    // Only the first line can be a banner.
    if (std::string const banner = reader.banner(); !banner.empty())
        skip_matrix_market_header(reader, banner, n);
    auto const entries = read_entries(reader, path, n);

    Index base = 1;
    for (auto const& entry : entries)
        if (entry.value == 0) base = 0;
    std::vector<Index> perm(entries.size());
    std::vector<Index> line_of(entries.size(), 0);
    for (Index row = 0; row < n; ++row) {
        auto const [value, line] = entries[row];
        if (value < base || value - base >= n)
            reader.fail(line,
                        fmt::format("{} is out of range {} .. {} ({})", value, base, n - 1 + base,
                                    base == 0 ? "0-based, since a 0 occurs" : "1-based, since no 0 occurs"));
        Index& seen = line_of[value - base];
        if (seen > 0) reader.fail(line, fmt::format("{} occurs twice, first in line {}", value, seen));
        seen = line;
        perm[row] = value - base;
    }
    return perm;
}

} // namespace espalier
