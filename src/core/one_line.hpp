// Messages have one line of readable characters, even if they quote text of users.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace espalier {

/// The text with a blank in place of each control character.
inline std::string in_one_line(std::string text) {
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

/// The text with '?' in place of each byte that is not a printable ASCII character.
inline std::string in_ascii(std::string_view text) {
    std::string printable(text);
    std::ranges::replace_if(
        printable, [](char c) { return c < ' ' || c > '~'; }, '?');
    return printable;
}

} // namespace espalier
