// Values as a user types them: the whole text must be one value. Every Error{usage} begins with the name of
// the option, says what the option needs, and quotes the text. `other` is a word that the option accepts,
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace espalier {

/// The k with choices[k] == text.
std::size_t parse_choice(std::string_view option, std::string_view text,
                         std::span<char const* const> choices);

/// A decimal integer in [least, most].
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                         std::int64_t most, std::string_view other = "");

/// A finite decimal number above zero, such as 1e-10, and at most `most`.
double parse_positive(std::string_view option, std::string_view text,
                      double most = std::numeric_limits<double>::infinity(), std::string_view other = "");
/// A finite decimal number, zero or above.
double parse_not_negative(std::string_view option, std::string_view text, std::string_view other = "");

/// Bytes: a decimal number, with or without a fraction, and a unit. K M G T and KiB MiB GiB TiB are powers of
/// 1024; KB MB GB TB are powers of 1000; B or no unit means bytes.
std::uint64_t parse_size(std::string_view option, std::string_view text, std::string_view other = "");
/// A text that parse_size() reads as `bytes`, in the largest binary unit that divides it.
std::string spell_size(std::uint64_t bytes);

} // namespace espalier
