// Decompression of a gzip file in memory (RFC 1952). zlib inflates one member after the other into a buffer
// that doubles up to a limit.
#include <algorithm>

#include <fmt/format.h>
#include <zlib.h>

#include "espalier/types.hpp"
#include "io/text_input.hpp"

namespace espalier {

namespace {

constexpr std::size_t largest_step = std::size_t{1} << 30; // zlib counts bytes in 32 bits
constexpr std::size_t always_allowed = std::size_t{1} << 30;
constexpr std::size_t largest_ratio = 200;

class Inflater {
  public:
    Inflater() {
        int const gzip_only = 16;
        if (inflateInit2(&stream_, gzip_only + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
    Inflater(Inflater const&) = delete;
    Inflater& operator=(Inflater const&) = delete;
    ~Inflater() { inflateEnd(&stream_); }

    // Calls inflate() once, with the free space of `output`, and removes the consumed bytes from `input`.
    int step(std::string_view& input, TextBuffer& output) {
        // zlib does not write to next_in, although its type is not const.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
        stream_.avail_in = static_cast<uInt>(std::min(input.size(), largest_step));
        stream_.next_out = reinterpret_cast<Bytef*>(output.tail());
        stream_.avail_out = static_cast<uInt>(std::min(output.room(), largest_step));
        auto const before_in = stream_.avail_in;
        auto const before_out = stream_.avail_out;
        int const code = inflate(&stream_, Z_NO_FLUSH);
        input.remove_prefix(before_in - stream_.avail_in);
        output.added(before_out - stream_.avail_out);
        return code;
    }
    void next_member() { inflateReset(&stream_); }
    [[nodiscard]] char const* message() const { return stream_.msg ? stream_.msg : "unknown error"; }

  private:
    z_stream stream_{};
};

void make_room(TextBuffer& output, std::size_t limit, std::string const& path) {
    if (output.room() > 0) return;
    if (output.size() >= limit)
        throw Error(
            Status::bad_input,
            fmt::format("{}: the gzip data expands to more than {} bytes, {} times its size; this is not a "
                        "matrix file",
                        path, limit, largest_ratio));
    output.reserve(std::min(limit, 2 * output.size()));
}

} // namespace

bool is_gzip(std::string_view data) {
    return data.size() >= 2 && data[0] == '\x1f' && data[1] == '\x8b';
}

TextBuffer gunzip(std::string_view compressed, std::string const& path) {
    auto const bad = [&](std::string const& what) {
        return Error(Status::bad_input, fmt::format("{}: {}", path, what));
    };
    std::size_t const limit = std::max(always_allowed, largest_ratio * compressed.size());
    TextBuffer output;
    output.reserve(std::min(limit, 4 * compressed.size() + (std::size_t{1} << 16)));
    Inflater inflater;
    std::string_view rest = compressed;
    while (true) {
        make_room(output, limit, path);
        int const code = inflater.step(rest, output);
        if (code == Z_STREAM_END) {
            if (rest.find_first_not_of('\0') == std::string_view::npos) return output;
            if (!is_gzip(rest))
                throw bad(fmt::format("{} bytes of other data follow the gzip data", rest.size()));
            inflater.next_member();
        } else if (code == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            throw bad(fmt::format("corrupt gzip data near byte {}: {}", compressed.size() - rest.size(),
                                  inflater.message()));
        } else if (rest.empty() && output.room() > 0) {
            throw bad(fmt::format("truncated gzip data: it ends after {} bytes", compressed.size()));
        }
    }
}

} // namespace espalier
