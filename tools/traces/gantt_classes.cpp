#include "tools/traces/gantt_classes.hpp"

#include <algorithm>

#include "trace/kinds.hpp"

namespace espalier::trace {

GanttClasses::GanttClasses(std::vector<GanttPanel> const& panels, ColorBy color_by) : color_by_(color_by) {
    constexpr Color grey{150, 150, 150};
    constexpr int most_classes = 256;
    for (GanttPanel const& panel : panels) {
        auto& classes = class_of_kind_.emplace_back();
        for (StateKind const& kind : panel.trace->kinds()) {
            auto const found = std::find(names_.begin(), names_.end(), kind.name);
            classes.push_back(found - names_.begin());
            if (found != names_.end()) continue;
            names_.push_back(kind.name);
            // Colours of kinds could be mistaken for colours of levels.
            colors_.push_back(color_by == ColorBy::level && kind.category == Category::work ? grey
                                                                                            : kind.color);
        }
        for (State const& state : panel.trace->states()) deepest_ = std::max<int>(deepest_, state.level);
    }
    first_level_ = names_.size();
    if (color_by == ColorBy::kind) return;
    levels_in_class_ = deepest_ / most_classes + 1;
    for (int level = 0; level <= deepest_; level += levels_in_class_) {
        names_.push_back(level == 0 ? "root" : "level " + std::to_string(level));
        colors_.push_back(level_color(level, deepest_));
    }
}

} // namespace espalier::trace
