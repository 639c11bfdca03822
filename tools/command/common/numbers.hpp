// Readable counts, sizes and times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::command {

/// 1234567 -> "1,234,567".
std::string with_separators(std::int64_t value);
/// Bytes with three significant digits and a binary unit: "12.3 MiB".
std::string readable_bytes(double bytes);
/// Flops with three significant digits and a decimal prefix: "1.23 Gflop".
std::string readable_flops(double flops);
/// Seconds with a precision that depends on their size: "0.0123 s", "1.52 s", "154 s".
std::string readable_seconds(double seconds);
/// The text of core/counted.hpp with separators: "1 thread", "2,000 threads".
std::string counted(std::int64_t count, std::string_view noun, std::string_view plural = "");

/// "1,234 tasks: 1,000 at distance 1, 234 at distance 2", from the number of steals at each distance; or
/// "none".
std::string steals_text(std::vector<std::int64_t> const& by_distance);

/// The median; the mean of the two middle values for an even number, 0 for none.
double median(std::vector<double> values);

} // namespace espalier::command
