#include "ordering/permutation.hpp"

#include <fmt/format.h>

namespace espalier {

std::vector<Index> invert_permutation(std::vector<Index> const& perm, char const* origin) {
    Index const n = std::ssize(perm);
    std::vector<Index> inverse(perm.size(), -1);
    for (Index old = 0; old < n; ++old) {
        Index const position = perm[old];
        if (position < 0 || position >= n || inverse[position] >= 0)
            throw Error(Status::internal, fmt::format("{} returned an invalid permutation: entry {} is {}",
                                                      origin, old, position));
        inverse[position] = old;
    }
    return inverse;
}

} // namespace espalier
