#include "core/column_moves.hpp"

namespace espalier {

// Position p of the panel waits for column perm[p]. If that lies in the panel, its position is free after the
// copy, and the next one is copied there. Such a chain ends with a column given. What remains are
// cycles in the panel.
void ColumnMoves::find(std::span<std::int32_t const> perm, Index own) {
    auto const n = static_cast<std::int32_t>(perm.size()), first = static_cast<std::int32_t>(own);
    moves_.clear();
    moves_.reserve(2 * perm.size());
    done_.assign(perm.size(), 0);
    auto const chain = [&](std::int32_t p, std::int32_t last) {
        for (std::int32_t from; (from = perm[p]) >= first && from != last; p = from) {
            moves_.push_back({p, from});
            done_[p] = 1;
        }
        done_[p] = 1;
        return p;
    };
    for (std::int32_t j = 0; j < first; ++j) {
        std::int32_t const end = chain(j, -1);
        moves_.push_back({end, perm[end]});
    }
    for (std::int32_t j = first; j < n; ++j) {
        if (perm[j] == j || done_[j] != 0) continue;
        moves_.push_back({n, j});
        std::int32_t const end = chain(j, j);
        moves_.push_back({end, n});
    }
}

void ColumnMoves::find_rotated(std::span<std::int32_t const> perm, Index own) {
    auto const first = static_cast<std::int32_t>(own), n = static_cast<std::int32_t>(perm.size());
    rotated_.clear();
    for (std::int32_t const j : perm) rotated_.push_back(j < first ? j + n - first : j - first);
    find(rotated_, 0);
}

} // namespace espalier
