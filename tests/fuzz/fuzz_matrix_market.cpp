// Matrix Market text, as a matrix and as a dense block.
#include <cstddef>
#include <cstdint>

#include "io/read.hpp"
#include "tolerate.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace espalier;
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    // A matrix that was accepted must be valid: an Error from validate() is a failure of the reader.
    NamedMatrix matrix;
    fuzz::tolerate([&] { matrix = parse_matrix(text, "fuzz.mtx", 1); });
    std::visit([](auto const& typed) { typed.validate(); }, matrix.matrix);
    // A sparse right-hand side may be large by design; that makes for slow fuzzing, not for faults.
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
