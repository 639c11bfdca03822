// How threads divide the columns of a matrix, so that all have about as many entries.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>

#include "espalier/types.hpp"

namespace espalier {

/// The first column of share k of `shares` consecutive ones; for k = shares the number of columns. Column j
/// has the entries ptr[j] .. ptr[j + 1] - 1.
inline Index first_of_share(std::span<Offset const> ptr, int k, int shares) {
    if (k == shares) return std::ssize(ptr) - 1;
    return std::lower_bound(ptr.begin(), ptr.end() - 1, ptr.back() / shares * k) - ptr.begin();
}

} // namespace espalier
