// Fuzzes the reader of Harwell-Boeing and Rutherford-Boeing text.
#include <cstddef>
#include <cstdint>

#include "io/harwell_boeing.hpp"
#include "matrix/assemble.hpp"
#include "tolerate.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace espalier;
    Source const source({reinterpret_cast<char const*>(data), size}, "fuzz.rb");
    // An accepted matrix must be valid; an Error of validate() is a bug of the reader.
    NamedMatrix matrix;
    fuzz::tolerate([&] { matrix = assemble(parse_harwell_boeing(source, 1), 1); });
    std::visit([](auto const& typed) { typed.validate(); }, matrix.matrix);
    return 0;
}
