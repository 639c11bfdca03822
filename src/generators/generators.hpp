// Test matrices by name, such as "lap3d:60", in place of a matrix file. generate.hpp declares the families.
#pragma once

#include <string_view>
#include <vector>

#include "espalier/matrix.hpp"

namespace espalier {

struct GeneratorHelp {
    std::string_view kind; ///< "lap3d"
    std::string_view
        arguments; ///< Form of the text after the kind and a colon: "N", "NXxNYxNZ", "N:NNZ:SEED".
    std::string_view description; ///< One line: equation, size, symmetry.
};

/// Whether `spec` is a generator rather than a file name: it starts with a known kind and a colon. The
/// arguments may be invalid.
bool is_generator(std::string_view spec);

/// The matrix `spec`, identical on every call and machine up to the last bits of sine and exponential
/// functions. Throws Error{usage} with the required form if the kind is unknown, an argument is missing or
/// not a positive number, or the matrix has more than 2^40 entries; Error{out_of_memory}.
NamedMatrix generate_matrix(std::string_view spec);

std::vector<GeneratorHelp> generator_help();

} // namespace espalier
