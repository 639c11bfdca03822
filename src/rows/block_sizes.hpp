// Sizes of dense blocks as template arguments.
#pragma once

namespace espalier {

inline constexpr int largest_block = 6;

/// Calls body.operator()<B>() for the block size B = size, 1 .. largest_block.
template <class Body> decltype(auto) with_block_size(int size, Body const& body) {
    switch (size) {
    case 2:
        return body.template operator()<2>();
    case 3:
        return body.template operator()<3>();
    case 4:
        return body.template operator()<4>();
    case 5:
        return body.template operator()<5>();
    case 6:
        return body.template operator()<6>();
    default:
        return body.template operator()<1>();
    }
}

} // namespace espalier
