// The colours of a picture: which class each state belongs to, and what is said of it in the legend.
#pragma once

#include <string>
#include <vector>

#include "tools/traces/gantt.hpp"

namespace espalier::trace {

class GanttClasses {
  public:
    /// By kind: one class for each kind's name that the panels have. By level: one for each level, or for a
    /// few neighbouring ones where there are more than 256, and one for each kind that is not work or has no
    /// level.
    GanttClasses(std::vector<GanttPanel> const& panels, ColorBy color_by);

    [[nodiscard]] std::size_t of(std::size_t panel, State const& state) const {
        bool const by_level = color_by_ == ColorBy::level && state.level >= 0;
        return by_level ? first_level_ + static_cast<std::size_t>(state.level / levels_in_class_)
                        : class_of_kind_[panel][state.kind];
    }
    [[nodiscard]] std::size_t size() const { return colors_.size(); }
    [[nodiscard]] std::vector<Color> const& colors() const { return colors_; }
    [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
    /// The largest level of any state; -1 for none.
    [[nodiscard]] int deepest() const { return deepest_; }
    /// Classes from this one on are levels, the root's first.
    [[nodiscard]] std::size_t first_level() const { return first_level_; }

  private:
    ColorBy color_by_;
    std::vector<std::vector<std::size_t>> class_of_kind_; ///< For each panel.
    std::vector<Color> colors_;
    std::vector<std::string> names_;
    std::size_t first_level_ = 0;
    int deepest_ = -1;
    int levels_in_class_ = 1;
};

} // namespace espalier::trace
