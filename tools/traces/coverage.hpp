// Colors of states that are narrower than a pixel. Time is divided into equal columns. The time of each
// class of states in each column is summed exactly, in integers, and the color of a column is the mixture of
// its classes.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/traces/statistics.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

/// One row of columns.
class Coverage {
  public:
    /// Error{usage} for zero columns or an empty window.
    Coverage(Window window, std::size_t columns, std::size_t classes);

    /// Adds the part of `start` .. `end` in the window to class `which`. Time that is added twice counts
    /// twice. The cost is proportional to the number of columns in `start` .. `end`.
    void add(Nanoseconds start, Nanoseconds end, std::size_t which);

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] Nanoseconds covered(std::size_t column, std::size_t which) const {
        return covered_[column * classes_ + which];
    }
    /// The start of a column; boundary(columns()) is the end of the window.
    [[nodiscard]] Nanoseconds boundary(std::size_t column) const;
    /// The column of a time in the window.
    [[nodiscard]] std::size_t column_of(Nanoseconds time) const;

  private:
    Window window_;
    std::size_t columns_;
    std::size_t classes_;
    std::vector<Nanoseconds> covered_; ///< By column, then by class.
};

/// Neighboring columns of one color.
struct ColorRun {
    std::size_t begin = 0, end = 0; ///< Columns.
    Color color;
};

/// The colors of the columns. The colors in a column are mixed as light, weighted by time; `background`
/// fills the rest. Runs of pure background are omitted.
std::vector<ColorRun> color_runs(Coverage const& coverage, std::vector<Color> const& colors,
                                 Color background);

} // namespace espalier::trace
