#include "ordering/minimum_degree.hpp"

#include <type_traits>

#include <amd.h>
#include <fmt/format.h>

namespace espalier {

MinimumDegree minimum_degree(std::span<std::int32_t const> ptr, std::span<std::int32_t const> ind,
                             std::span<std::int32_t> order) {
    static_assert(std::is_same_v<int, std::int32_t>);
    double info[AMD_INFO];
    int const code =
        amd_order(static_cast<int>(order.size()), ptr.data(), ind.data(), order.data(), nullptr, info);
    if (code == AMD_OUT_OF_MEMORY) throw Error(Status::out_of_memory, "AMD ran out of memory while ordering");
    if (code != AMD_OK && code != AMD_OK_BUT_JUMBLED)
        throw Error(Status::internal, fmt::format("AMD rejected the pattern with status {}", code));
    return {static_cast<Offset>(info[AMD_LNZ]), info[AMD_NDIV] + 2 * info[AMD_NMULTSUBS_LU]};
}

} // namespace espalier
