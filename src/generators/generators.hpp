// Test matrices by name: "lap3d:60" wherever a matrix file could stand. The families themselves are in
// generate.hpp.
#pragma once

#include <string_view>
#include <vector>

#include "espalier/matrix.hpp"

namespace espalier {

/// One line of the command's help.
struct GeneratorHelp {
    std::string_view kind;        ///< "lap3d"
    std::string_view arguments;   ///< "N", "NXxNYxNZ", "N:NNZ:SEED": what follows the kind and a colon.
    std::string_view description; ///< One line: equation, size, symmetry.
};

/// Whether `spec` is to be understood as a generator rather than as a file name: it begins with a known kind
/// and a colon. Its arguments may still be wrong.
bool is_generator(std::string_view spec);

/// The matrix that `spec` names; the same on every call and machine (up to the last bits of sine and
/// exponential functions). Error{usage} with the right form when the kind is unknown, or an argument is
/// missing, not a number, zero, negative, or asks for more than 2^40 entries; Error{out_of_memory} when
/// memory does not suffice.
NamedMatrix generate_matrix(std::string_view spec);

/// All kinds, in the order in which to print them.
std::vector<GeneratorHelp> generator_help();

} // namespace espalier
