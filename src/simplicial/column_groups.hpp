// Groups of right-hand sides that advance together in the solves. Their entries of one row are consecutive.
#pragma once

#include "espalier/types.hpp"

namespace espalier {

constexpr int widest_group = 8;

/// The width of the first group of for_each_group(), which is the widest one.
constexpr int group_width(Index columns) {
    return columns >= widest_group ? widest_group : columns >= 4 ? 4 : 1;
}

/// Calls solve.operator()<W>(group) for groups of W = 8, 4 and 1 of the `columns` vectors of n entries in x.
template <class T, class Solve> void for_each_group(T* x, Index n, Index columns, Solve const& solve) {
    for (; columns >= widest_group; columns -= widest_group, x += widest_group * n)
        solve.template operator()<widest_group>(x);
    for (; columns >= 4; columns -= 4, x += 4 * n) solve.template operator()<4>(x);
    for (; columns > 0; --columns, x += n) solve.template operator()<1>(x);
}

} // namespace espalier
