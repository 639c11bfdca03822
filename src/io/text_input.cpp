#include "io/text_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier {

namespace {

// The kind of a binary file, or null.
char const* kind_of_binary(std::string_view head) {
    using namespace std::string_view_literals;
    auto const begins = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
    if (head.size() > 262 && head.substr(257, 5) == "ustar") return "a tar archive; extract the matrix first";
    if (begins("BZh")) return "bzip2 data; decompress it or use gzip";
    if (begins("\xFD"
               "7zXZ\0"sv))
        return "xz data; decompress it or use gzip";
    if (begins("\x28\xB5\x2F\xFD")) return "zstd data; decompress it or use gzip";
    if (begins("PK\x03\x04")) return "a zip archive; extract the matrix first";
    if (begins("\x89HDF")) return "HDF5 data";
    return nullptr;
}

TextBuffer read_whole(std::string const& path) {
    InputFile const file(path);
    TextBuffer buffer;
    // One extra byte, so that the end of the file is detected without growing the buffer.
    buffer.reserve(std::max(file.size() + 1, std::size_t{1} << 16));
    bool checked = false;
    while (file.read(buffer)) {
        if (!checked && buffer.size() >= 512 && !is_gzip(buffer.text())) {
            require_text(buffer.text(), path); // before the rest of an endless device is read
            checked = true;
        }
        if (buffer.room() == 0) buffer.reserve(2 * buffer.size());
    }
    return buffer;
}

} // namespace

// Control characters mean binary data; bytes above 127 may occur in comments.
void require_text(std::string_view text, std::string const& path) {
    auto const head = text.substr(0, std::size_t{1} << 16);
    if (char const* const kind = kind_of_binary(head))
        throw Error(Status::bad_input, fmt::format("{}: not a matrix file but {}", path, kind));
    auto const control = [](char c) {
        return (static_cast<unsigned char>(c) < ' ' && !(c >= '\t' && c <= '\r') && c != '\x1a') ||
               c == '\x7f';
    };
    auto const found = std::find_if(head.begin(), head.end(), control);
    if (found != head.end())
        throw Error(Status::bad_input,
                    fmt::format("{}: binary data, not a matrix file (byte 0x{:02x} at offset {})", path,
                                static_cast<unsigned char>(*found), found - head.begin()));
}

TextBuffer load_text(std::string const& path) {
    try {
        TextBuffer buffer = read_whole(path);
        if (is_gzip(buffer.text())) buffer = gunzip(buffer.text(), path);
        if (buffer.size() == 0) throw Error(Status::bad_input, fmt::format("{}: the file is empty", path));
        require_text(buffer.text(), path);
        return buffer;
    } catch (std::bad_alloc const&) {
        throw Error(Status::out_of_memory, fmt::format("{}: the file does not fit in memory", path));
    }
}

} // namespace espalier
