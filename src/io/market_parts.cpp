#include "io/market_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "io/matrix_market.hpp"
#include "io/text_input.hpp"

namespace espalier {

namespace {

using CheckHead = void(Source const& source, MarketHeader const& header, Offset bytes);

// The head of a file that starts with `text`; nothing if the head does not end within `text`.
std::optional<MarketHead> head_of(std::string const& path, std::string_view text, std::size_t file_size,
                                  CheckHead* check) {
    Source const source(text, path);
    MarketHead head;
    head.header = parse_market_header(source);
    if (head.header.body == source.end() && text.size() < file_size) return std::nullopt;
    head.body = head.header.body - source.begin();
    head.body_line = source.line_of(head.header.body);
    head.file_size = file_size;
    check(source, head.header, head.file_size - head.body);
    head.header.size_line = head.header.body = nullptr;
    return head;
}

// Reads increasing parts of the file, because comments may make the head long.
std::optional<MarketHead> find_head(std::string const& path, CheckHead* check) try {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown))
        return {}; // reading would consume the data of a pipe
    InputFile const file(path);
    std::size_t const size = file.size();
    std::size_t const longest = std::size_t{1} << 24;
    TextBuffer buffer;
    for (std::size_t tried = std::size_t{1} << 16;; tried *= 4) {
        buffer.reserve(std::min(tried, size));
        if (size == 0 || !file.read_from(buffer.size(), buffer) || is_gzip(buffer.text())) return {};
        require_text(buffer.text(), path);
        if (!is_matrix_market(buffer.text())) return {};
        bool const is_last = tried >= longest || buffer.size() == size;
        try {
            if (auto head = head_of(path, buffer.text(), size, check); head || is_last) return head;
        } catch (Error const&) { // possibly because the text is incomplete
            if (is_last) throw;
        }
    }
} catch (std::exception const&) {
    return {};
}

std::size_t share(std::size_t size, int part, int parts) {
    return size / parts * part + std::min<std::size_t>(part, size % parts);
}

// Reads to the end of the current line and returns its position.
std::size_t finish_line(InputFile const& file, std::size_t first, TextBuffer& buffer) {
    for (std::size_t more_bytes = std::size_t{1} << 12;; more_bytes *= 2) {
        std::size_t const before = buffer.size();
        buffer.reserve(before + more_bytes);
        bool const more = file.read_from(first + before, buffer);
        auto const found = buffer.text().find('\n', before);
        if (found != std::string_view::npos) return found + 1;
        if (!more) return buffer.size();
    }
}

} // namespace

std::optional<MarketHead> find_matrix_head(std::string const& path) {
    return find_head(path, [](Source const& source, MarketHeader const& header, Offset bytes) {
        if (header.array) throw Error(Status::unsupported, "arrays are not read in parts");
        check_matrix_head(source, header, bytes);
    });
}

std::optional<MarketHead> find_dense_head(std::string const& path) {
    return find_head(path, check_dense_head);
}

Lines read_lines(std::string const& path, MarketHead const& head, int part, int parts) {
    InputFile const file(path);
    if (file.size() != static_cast<std::uint64_t>(head.file_size))
        throw Error(Status::io_error,
                    fmt::format("{}: the file has {} bytes on this process, but {} bytes on the "
                                "process that read its head",
                                path, file.size(), head.file_size));
    std::size_t const body = head.body;
    std::size_t const size = head.file_size - head.body;
    std::size_t const begin = body + share(size, part, parts);
    std::size_t const end = body + share(size, part + 1, parts);
    Lines lines;
    if (begin == end) return lines;
    TextBuffer& buffer = lines.buffer;
    // If the byte before `begin` is a line feed, a line starts at `begin`.
    std::size_t const first = begin > body ? begin - 1 : begin;
    buffer.reserve(end - first);
    if (!file.read_from(first, buffer))
        throw Error(Status::io_error, fmt::format("{}: the file became shorter while it was read", path));
    std::size_t start = 0;
    if (begin > body) {
        start = buffer.text().find('\n') + 1;
        if (start == 0 || first + start >= end) return {};
    }
    std::size_t const stop = buffer.text().back() == '\n' ? buffer.size() : finish_line(file, first, buffer);
    lines.text = buffer.text().substr(start, stop - start);
    return lines;
}

} // namespace espalier
