// Permutations: perm[old] = new, inverse[new] = old.
#pragma once

#include <string>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// The inverse: inverse[perm[i]] = i. Throws Error{internal} if `perm` is not a permutation of 0 .. size - 1;
/// `origin` names its source in the message.
std::vector<Index> invert_permutation(std::vector<Index> const& perm, char const* origin);

/// Reads a permutation of n rows from a text file: n integers separated by white space or commas. The i-th
/// integer is the new position of row i. They are a permutation of 0 .. n - 1 or of 1 .. n. `%` and `#` start
/// comments. The file may be a Matrix Market array of n x 1 or 1 x n entries. Throws Error{io_error} if the
/// file cannot be read; Error{bad_input} with file, line and value.
std::vector<Index> read_permutation(std::string const& path, Index n);

} // namespace espalier
