// Messages have one line, even if they quote text of users.
#pragma once

#include <algorithm>
#include <string>

namespace espalier {

/// The text with a blank in place of each control character.
inline std::string in_one_line(std::string text) {
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

} // namespace espalier
