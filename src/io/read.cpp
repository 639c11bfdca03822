// Detects the format and runs the steps: load, parse, free the text, assemble.
#include "io/read.hpp"

#include <utility>

#include <fmt/format.h>

#include "io/harwell_boeing.hpp"
#include "io/parse_numbers.hpp"
#include "io/text_input.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

namespace {

std::string_view without_byte_order_mark(std::string_view text) {
    std::string_view const mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

CoordinateData parse_entries(std::string_view file, std::string const& name, int threads) {
    std::string_view const text = without_byte_order_mark(file);
    Source const source(text, name);
    if (is_matrix_market(text)) return parse_matrix_market(source, threads);
    if (is_harwell_boeing(text)) return parse_harwell_boeing(source, threads);
    source.fail(source.begin(),
                "not a matrix file: it has neither a %%MatrixMarket banner nor a Rutherford-Boeing header");
}

// Adds the name of the file to an out-of-memory error.
template <class Read> auto with_name_in_errors(std::string const& name, Read const& read) {
    try {
        return read();
    } catch (std::bad_alloc const&) {
        throw Error(Status::out_of_memory, fmt::format("{}: the matrix does not fit in memory", name));
    }
}

} // namespace

std::string file_name(std::string const& path) {
    return path.substr(path.find_last_of('/') + 1);
}

NamedMatrix read_matrix(std::string const& path, int threads) {
    return with_name_in_errors(path, [&] {
        // The text is freed before the matrix is built.
        auto data = [&] {
            auto const buffer = load_text(path);
            return parse_entries(buffer.text(), path, threads);
        }();
        data.description.name = file_name(path);
        return assemble(std::move(data), threads);
    });
}

NamedMatrix parse_matrix(std::string_view text, std::string const& name, int threads) {
    return with_name_in_errors(name, [&] {
        auto data = parse_entries(text, name, threads);
        data.description.name = file_name(name);
        return assemble(std::move(data), threads);
    });
}

AnyDense read_dense(std::string const& path, int threads) {
    return parse_dense(load_text(path).text(), path, threads);
}

AnyDense parse_dense(std::string_view file, std::string const& name, int threads) {
    return with_name_in_errors(name, [&] {
        std::string_view const text = without_byte_order_mark(file);
        Source const source(text, name);
        if (!is_matrix_market(text))
            source.fail(source.begin(), "not a Matrix Market file: it has no %%MatrixMarket banner");
        return parse_matrix_market_dense(source, threads);
    });
}

} // namespace espalier
