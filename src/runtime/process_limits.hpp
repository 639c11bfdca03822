// The memory and processor time that the system lets this process use, with the limits of its cgroups
// (versions 1 and 2, all ancestors). Most calls read /proc and /sys, which takes about 100 us.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

/// The maximum resident set of this process so far. Takes about a microsecond, except for the first calls.
std::uint64_t peak_rss_bytes();

/// The current resident set of this process.
std::uint64_t current_rss_bytes();

struct ResidentMemory {
    std::uint64_t peak = 0, current = 0;
};
/// Both numbers as they were at most 10 ms ago. For small systems, whose solution takes less time than a
/// reading.
ResidentMemory recent_resident_memory();

/// Returns kept pages (kept_pages.hpp), and free pages of the heap, to the system, which malloc() would keep:
/// all threads' pools, if the C library can. Takes about a millisecond for each 100 MB of the heap.
void return_free_memory();

/// The memory that can be allocated without swapping and without being killed: the minimum of the system's
/// estimate and the remaining limits of the cgroups (reclaimable file cache counts as free). The largest
/// 64-bit number if unknown.
std::uint64_t available_memory_bytes(std::string const& root = "/");

/// The number of CPUs that the cgroup quota grants (docker --cpus); infinity without a quota. Tests of these
/// two limits have another `root` directory.
double cpu_quota(std::string const& root = "/");

} // namespace espalier
