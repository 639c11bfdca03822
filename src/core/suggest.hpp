// "Did you mean": the known word that is nearest to a misspelled one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace espalier {

/// " (did you mean 'threads'?)" if a word of `known` is at most two edits (insert, delete, replace, swap
/// neighbors) from `word`, and fewer than half as many as `word` has characters; else empty. To be appended
/// to a message.
std::string did_you_mean(std::string_view word, std::span<std::string_view const> known);

} // namespace espalier
