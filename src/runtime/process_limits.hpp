// What the system lets this process use: memory and processor time, the limits of its cgroups included
// (versions 1 and 2, every ancestor counts). Read from /proc and /sys at each call, about 100 us.
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

/// Largest resident set of this process so far.
std::uint64_t peak_rss_bytes();

/// Resident set of this process now.
std::uint64_t current_rss_bytes();

/// Memory that can still be taken without swapping others out or being killed: the smaller of the system's
/// estimate and what the cgroups leave (reclaimable file cache counts as free). The largest 64-bit number
/// when the system does not say.
std::uint64_t available_memory_bytes();

/// CPUs' worth of time that the cgroup quota grants (docker --cpus); infinity without a quota.
double cpu_quota();

/// The two limits above under another root directory than "/": how they are tested.
std::uint64_t available_memory_bytes(std::string const& root);
double cpu_quota(std::string const& root);

} // namespace espalier
