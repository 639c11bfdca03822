#include "ordering/permutation.hpp"

namespace espalier {

std::vector<Index> invert_permutation(std::vector<Index> const& perm, char const* who) {
    auto const n = static_cast<Index>(perm.size());
    std::vector<Index> inverse(perm.size(), -1);
    for (Index old = 0; old < n; ++old) {
        Index const position = perm[old];
        if (position < 0 || position >= n || inverse[position] >= 0)
            throw Error(Status::internal, std::string(who) +
                                              " returned something that is not a permutation: entry " +
                                              std::to_string(old) + " is " + std::to_string(position));
        inverse[position] = old;
    }
    return inverse;
}

} // namespace espalier
