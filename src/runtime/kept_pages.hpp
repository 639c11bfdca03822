// Pages that this process does not use at the moment and keeps for its next large arrays. The system clears
// each page that it provides, which takes as long as much of the work on an incomplete factorization, and the
// host of a virtual machine may take back free pages in the meantime.
#pragma once

#include <cstddef>
#include <span>

namespace espalier {

/// No more than this many bytes are kept.
inline constexpr std::size_t most_kept_bytes = std::size_t{512} << 20;

/// Returns kept pages with any contents, or an empty range if too few are kept. `bytes` is a multiple of
/// Arena::alignment, and so is the address. Thread-safe, as all functions here.
std::span<std::byte> take_kept_pages(std::size_t bytes) noexcept;

/// Keeps a range of mapped pages, whose address and size are multiples of Arena::alignment, or unmaps some.
/// The system may take the memory of kept pages if it becomes short. With several NUMA nodes nothing is kept,
/// because pages belong to nodes.
void keep_pages(std::span<std::byte> pages) noexcept;

/// Whether the machine has a single NUMA node. False if this cannot be found out.
bool has_one_node() noexcept;

/// Returns all kept pages to the system.
void release_kept_pages() noexcept;

} // namespace espalier
