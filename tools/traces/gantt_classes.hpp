// The classes of states in a picture, with the colours and names of the legend.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/gantt.hpp"

namespace espalier::trace {

class GanttClasses {
  public:
    /// ColorBy::kind: a class for each name of a kind. ColorBy::level: also a class for each level, or for
    /// several neighbouring levels if there are more than 256; the classes of kinds hold the states without
    /// level.
    GanttClasses(std::vector<GanttPanel> const& panels, ColorBy color_by);

    [[nodiscard]] std::size_t of(std::size_t panel, State const& state) const {
        bool const by_level = color_by_ == ColorBy::level && state.level >= 0;
        return by_level ? first_level_ + state.level / levels_in_class_ : class_of_kind_[panel][state.kind];
    }
    [[nodiscard]] std::size_t size() const { return colors_.size(); }
    [[nodiscard]] std::vector<Color> const& colors() const { return colors_; }
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
    /// The largest level of any state; -1 if no state has a level.
    [[nodiscard]] int deepest() const { return deepest_; }
    /// The class of the root, the first class of levels.
    [[nodiscard]] std::size_t first_level() const { return first_level_; }

  private:
    ColorBy color_by_;
    std::vector<std::vector<std::size_t>> class_of_kind_; ///< By panel and kind.
    std::vector<Color> colors_;
    std::vector<std::string> names_;
    std::size_t first_level_ = 0;
    int deepest_ = -1;
    int levels_in_class_ = 1;
};

} // namespace espalier::trace
