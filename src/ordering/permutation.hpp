// Permutations as the rest of the house uses them: perm[old] = new, inverse[new] = old.
#pragma once

#include <string>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// inverse[perm[i]] = i. Error{internal} when `perm` is not a permutation of 0 .. size - 1; `who` names its
/// origin in the message.
std::vector<Index> invert_permutation(std::vector<Index> const& perm, char const* who);

} // namespace espalier
