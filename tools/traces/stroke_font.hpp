// The letters of pictures made of pixels: lines between points of a small grid, so that they are smooth at
// any size.
#pragma once

#include <string_view>

namespace espalier::trace {

/// Polylines, separated by blanks. A point is two hexadecimal digits, x to the right and y upwards; letters
/// stand on y = 3 and capitals reach y = 10. A polyline whose points are one is a dot.
std::string_view glyph(char character);
/// In units of the grid, the space to the next letter included.
double glyph_advance(char character);

inline constexpr double glyph_baseline = 3;
/// Units of the grid in the size of a font.
inline constexpr double glyph_units = 9.8;

} // namespace espalier::trace
