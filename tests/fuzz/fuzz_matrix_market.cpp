// Fuzzes the readers of Matrix Market text as a matrix and as a dense block.
#include <cstddef>
#include <cstdint>

#include "io/read.hpp"
#include "tolerate.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace espalier;
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    // An accepted matrix must be valid; an Error of validate() is a bug of the reader.
    NamedMatrix matrix;
    fuzz::tolerate([&] { matrix = parse_matrix(text, "fuzz.mtx", 1); });
    std::visit([](auto const& typed) { typed.validate(); }, matrix.matrix);
    // A dense block from a sparse file may be large, which only makes fuzzing slow.
    AnyDense dense;
    if (text.find("array") != std::string_view::npos)
        fuzz::tolerate([&] { dense = parse_dense(text, "fuzz.mtx", 1); });
    std::visit(
        [](auto const& typed) {
            if (typed.values.size() != static_cast<std::size_t>(typed.rows * typed.cols)) std::abort();
        },
        dense);
    return 0;
}
