// One scan finds the lines and divides them among the threads, which then cut the fields by column.
#include "io/fixed_section.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/run_threads.hpp"

namespace espalier {

std::string_view line_at(char const* p, char const* end) {
    char const* last = line_end(p, end);
    while (last != p && (last[-1] == ' ' || last[-1] == '\r')) --last;
    return {p, last};
}

FixedSection::FixedSection(Source const& source, char const* begin, char const* what,
                           std::vector<FixedField> format, Offset count, int threads)
    : source_(source), what_(what), format_(std::move(format)), count_(count), begin_(begin) {
    Offset const per_line = std::ssize(format_);
    num_lines_ = count / per_line + (count % per_line != 0);
    Offset const lines_per_piece = std::max<Offset>(num_lines_ / team_size(threads) + 1, 4096);
    char const* p = begin;
    for (Offset line = 0; line < num_lines_; ++line, p = next_line(p, source.end())) {
        if (p == source.end())
            source.fail(p,
                        fmt::format("the file ends in the {}, after {} of {} lines", what, line, num_lines_));
        if (line % lines_per_piece == 0) pieces_.push_back({p, line * per_line});
    }
    end_ = p;
    if (count > end_ - begin)
        source.fail(begin, fmt::format("the header declares {} {}, but their lines have only {} bytes", count,
                                       what, end_ - begin));
}

char const* FixedSection::line_of(Offset k) const {
    char const* p = begin_;
    for (Offset line = k / std::ssize(format_); line > 0; --line) p = next_line(p, source_.end());
    return p;
}

// Calls parse(first, last, field, k) for the characters of every number k without surrounding blanks.
template <class Parse> void FixedSection::for_each(Parse const& parse) const {
    auto const num_pieces = static_cast<int>(pieces_.size());
    run_threads(num_pieces, [&](int t) {
        Offset k = pieces_[t].first_number;
        Offset const last = t + 1 < num_pieces ? pieces_[t + 1].first_number : count_;
        for (char const* p = pieces_[t].begin; k < last; p = next_line(p, source_.end()))
            parse_line(p, k, last, parse);
    });
}

template <class Parse>
void FixedSection::parse_line(char const* p, Offset& k, Offset last, Parse const& parse) const {
    auto const line = line_at(p, source_.end());
    auto const width = static_cast<int>(std::min<Index>(std::ssize(line), 1 << 20));
    bool const no_newline = line_end(p, source_.end()) == source_.end();
    int column = 0;
    for (auto field = format_.begin(); field != format_.end() && k < last; ++field, ++k) {
        char const* first = p + std::min(field->begin, width);
        char const* end = p + std::min(field->end, width);
        while (first != end && *first == ' ') ++first;
        while (first != end && end[-1] == ' ') --end;
        if (first == end)
            source_.fail(first, fmt::format("columns {} to {} are blank; expected number {} of {} {}",
                                            field->begin + 1, field->end, k + 1, count_, what_));
        if (no_newline && field->end > source_.end() - p)
            source_.fail(first, "the file ends inside a number");
        parse(first, end, *field, k);
        column = field->end;
    }
    char const* const rest = std::find_if_not(p + std::min(column, width), p + width, is_blank);
    if (rest != p + width)
        source_.fail(rest, fmt::format("unexpected {} in column {}, after the last of the {}",
                                       in_quotes({rest, p + width}), rest - p + 1, what_));
}

// A blank between digits usually means that the format does not fit the columns.
void FixedSection::fail_number(char const* first, char const* last, std::string const& fault) const {
    std::string_view const field(first, last);
    bool const cut = field.find_first_of(" \t") != std::string_view::npos;
    auto const columns =
        fmt::format("{} is not one number; the columns do not fit the format", in_quotes(field));
    source_.fail(first, fmt::format("{}: {}", what_, cut ? columns : fault));
}

std::vector<Index> FixedSection::integers(Index lowest, Index highest) const {
    std::vector<Index> numbers(count_);
    for_each([&](char const* first, char const* last, FixedField const&, Offset k) {
        Index& number = numbers[k];
        if (parse_integer(first, last, number) != last) fail_number(first, last, bad_integer(first, last));
        if (number < lowest || number > highest)
            source_.fail(first, fmt::format("{}: {} is outside {} .. {}", what_, number, lowest, highest));
    });
    return numbers;
}

std::vector<double> FixedSection::reals(bool& implied) const {
    std::vector<double> numbers(count_);
    std::atomic<bool> any_implied{false};
    for_each([&](char const* first, char const* last, FixedField const& field, Offset k) {
        if (field.decimals > 0 && !std::memchr(first, '.', last - first))
            any_implied.store(true, std::memory_order_relaxed);
        if (!parse_fixed_real(first, last, field.decimals, field.scale, numbers[k]))
            fail_number(first, last, bad_real(first, last));
    });
    implied = any_implied.load();
    return numbers;
}

} // namespace espalier
