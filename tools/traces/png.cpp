// PNG (ISO/IEC 15948): a signature and three chunks, each with its length and checksum. Compression and
// checksum are zlib's.
#include <zlib.h>

#include "espalier/types.hpp"
#include "tools/traces/canvas.hpp"

namespace espalier::trace {
namespace {

void append_uint32(std::string& file, std::size_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(value >> shift & 255);
}

void append_chunk(std::string& file, std::string const& type, std::string const& data) {
    append_uint32(file, data.size());
    std::string const body = type + data;
    file += body;
    append_uint32(file,
                  crc32(0, reinterpret_cast<Bytef const*>(body.data()), static_cast<uInt>(body.size())));
}

} // namespace

std::string png(std::size_t width, std::size_t height, std::vector<std::uint8_t> const& pixels) {
    // Each row after the number of its filter: 2, the difference to the row above, which is mostly the same.
    std::size_t const row = width * 3;
    std::string rows;
    rows.reserve(height * (row + 1));
    for (std::size_t y = 0; y < height; ++y) {
        rows += '\2';
        for (std::size_t x = 0; x < row; ++x) {
            unsigned const above = y > 0 ? pixels[(y - 1) * row + x] : 0;
            rows += static_cast<char>(pixels[y * row + x] - above);
        }
    }
    uLongf size = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<Bytef const*>(rows.data()),
                  static_cast<uLong>(rows.size()), 6) != Z_OK)
        throw Error(Status::out_of_memory, "trace: no memory to compress a picture");
    packed.resize(size);

    std::string file = "\x89PNG\r\n\x1a\n";
    std::string head;
    append_uint32(head, width);
    append_uint32(head, height);
    head += {8, 2, 0, 0, 0}; // Eight bits of red, green and blue; not interlaced.
    append_chunk(file, "IHDR", head);
    append_chunk(file, "IDAT", packed);
    append_chunk(file, "IEND", "");
    return file;
}

} // namespace espalier::trace
