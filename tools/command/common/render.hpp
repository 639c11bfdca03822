// A picture as the text of an SVG file or the bytes of a PNG file. Pictures know their size and draw
// themselves on a canvas of trace/.
#pragma once

#include <memory>
#include <string>

#include "tools/traces/canvas.hpp"

namespace espalier::command {

template <class Picture> std::string render(Picture const& picture, bool svg) {
    std::unique_ptr<trace::Canvas> canvas;
    if (svg)
        canvas = std::make_unique<trace::SvgCanvas>(picture.width(), picture.height());
    else
        canvas = std::make_unique<trace::RasterCanvas>(picture.width(), picture.height(), 2);
    picture.draw(*canvas);
    return canvas->finish();
}

} // namespace espalier::command
