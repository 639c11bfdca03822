// Permutations as the rest of the house uses them: perm[old] = new, inverse[new] = old.
#pragma once

#include <string>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// inverse[perm[i]] = i. Error{internal} when `perm` is not a permutation of 0 .. size - 1; `who` names its
/// origin in the message.
std::vector<Index> invert_permutation(std::vector<Index> const& perm, char const* who);

/// A permutation of n rows from a text file: n integers separated by blanks and line ends, the i-th one the
/// new position of row i. They are a permutation of 0 .. n - 1, or of 1 .. n (then 1 is subtracted). `%` and
/// `#` start comments. A Matrix Market array (n by 1 or 1 by n) is such a file too, its banner and sizes
/// being checked. Error{io_error} when the file cannot be read, Error{bad_input} naming file, line and value.
std::vector<Index> read_permutation(std::string const& path, Index n);

} // namespace espalier
