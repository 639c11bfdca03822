// Numbers as a person types and reads them: counts and sizes from the command line, and counts, sizes and
// times in the report. Parsing is strict: the whole text must be one decimal number in range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::command {

/// A decimal integer in [least, most]. Error{usage} that names `option`, the text and the range.
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most);

/// A finite decimal number above zero, as 1e-10. Error{usage} that names `option` and the text.
double parse_positive(std::string_view option, std::string_view text);

/// Bytes: a decimal number, with or without a fraction, and a unit. K M G T and KiB MiB GiB TiB are powers
/// of 1024; KB MB GB TB powers of 1000; B or no unit is bytes. Error{usage} that names `option`.
std::uint64_t parse_size(std::string_view option, std::string_view text);

/// 1234567 -> "1,234,567".
std::string with_separators(std::int64_t value);
/// Bytes with three significant digits and a binary unit: "12.3 MiB".
std::string readable_bytes(double bytes);
/// Flops with three significant digits and a decimal prefix: "1.23 Gflop".
std::string readable_flops(double flops);
/// Seconds to a precision that suits their size: "0.0123 s", "1.52 s", "154 s".
std::string readable_seconds(double seconds);
/// "1 thread", "2 threads"; with a `plural` of its own, "1 entry", "2 entries".
std::string counted(std::int64_t count, std::string_view noun, std::string_view plural = "");

/// The value in the middle, or the mean of the two that are; 0 of none.
double median(std::vector<double> values);

} // namespace espalier::command
