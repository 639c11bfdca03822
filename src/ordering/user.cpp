// A permutation of the rows, given by the user as a text file.
#include <charconv>
#include <fstream>
#include <string_view>

#include "ordering/permutation.hpp"

namespace espalier {

namespace {

// Words of a text file, comments left out. A word longer than any number is cut, so that a binary file
// costs no memory.
class WordReader {
  public:
    explicit WordReader(std::string const& path) : path_(path), file_(path, std::ios::binary) {
        if (!file_) throw Error(Status::io_error, "cannot open ordering file '" + path + "'");
    }

    /// False at the end of the file.
    bool next(std::string& word) {
        word.clear();
        skip_blanks();
        while (peek() != end && !is_blank(peek()) && word.size() < max_word)
            word.push_back(static_cast<char>(take()));
        if (file_.bad()) throw Error(Status::io_error, "cannot read ordering file '" + path_ + "'");
        return !word.empty();
    }
    /// The first line when it is a Matrix Market banner, else nothing. To be called first.
    std::string banner() {
        std::string text;
        std::string_view constexpr mark = "%%MatrixMarket";
        while (text.size() < mark.size() && peek() == mark[text.size()])
            text.push_back(static_cast<char>(take()));
        if (text != mark) { // a comment, if it began like one
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
        throw Error(Status::bad_input,
                    "ordering file '" + path_ + "', line " + std::to_string(line) + ": " + what);
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
    void skip_blanks() {
        while (true) {
            int const c = peek();
            if (c == '%' || c == '#')
                skip_line();
            else if (is_blank(c))
                take();
            else
                return;
        }
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
    if (code == std::errc::result_out_of_range) reader.fail(reader.line(), printable(word) + " is too large");
    if (code != std::errc() || stop != word.data() + word.size())
        reader.fail(reader.line(), printable(word) + " is not an integer");
    return value;
}

// The banner and the two sizes of a Matrix Market array; leaves the reader before the first value.
void skip_matrix_market_header(WordReader& reader, std::string const& banner, Index n) {
    if (banner.find(" array ") == std::string::npos || banner.find(" general") == std::string::npos)
        reader.fail(1, "a permutation is a Matrix Market 'matrix array integer general', not " +
                           printable(banner));
    std::string word;
    Index size[2] = {0, 0};
    for (Index& s : size) {
        if (!reader.next(word)) reader.fail(reader.line(), "the Matrix Market header has no sizes");
        s = parse_integer(reader, word);
    }
    if (!(size[0] == n && size[1] == 1) && !(size[0] == 1 && size[1] == n))
        reader.fail(reader.line(), "the array is " + std::to_string(size[0]) + " by " +
                                       std::to_string(size[1]) + ", a permutation of the " +
                                       std::to_string(n) + " rows is needed");
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
        if (static_cast<Index>(entries.size()) == n)
            reader.fail(line, "more integers than the " + std::to_string(n) + " rows of the matrix");
        entries.push_back({value, line});
    }
    if (static_cast<Index>(entries.size()) < n)
        throw Error(Status::bad_input, "ordering file '" + path + "' has " + std::to_string(entries.size()) +
                                           " integers, the matrix has " + std::to_string(n) + " rows");
    return entries;
}

} // namespace

std::vector<Index> read_permutation(std::string const& path, Index n) {
    WordReader reader(path);
    // Only the very first line can be a banner.
    if (std::string const banner = reader.banner(); !banner.empty())
        skip_matrix_market_header(reader, banner, n);
    auto const entries = read_entries(reader, path, n);

    Index base = 1;
    for (auto const& entry : entries)
        if (entry.value == 0) base = 0;
    std::vector<Index> perm(entries.size());
    std::vector<Index> line_of(entries.size(), 0);
    for (std::size_t row = 0; row < entries.size(); ++row) {
        auto const [value, line] = entries[row];
        if (value < base || value - base >= n)
            reader.fail(line,
                        std::to_string(value) + " is out of range " + std::to_string(base) + " .. " +
                            std::to_string(n - 1 + base) +
                            (base == 0 ? " (0-based, since a 0 occurs)" : " (1-based, since no 0 occurs)"));
        Index& seen = line_of[value - base];
        if (seen > 0)
            reader.fail(line, std::to_string(value) + " occurs twice, first in line " + std::to_string(seen));
        seen = line;
        perm[row] = value - base;
    }
    return perm;
}

} // namespace espalier
