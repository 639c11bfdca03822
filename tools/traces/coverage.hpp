// How states that are narrower than a pixel are shown: not one of them, but the share of each. Time is cut
// into equal columns, and what each class of states covers of each column is summed exactly, in integers.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/traces/statistics.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

/// One row of columns.
class Coverage {
  public:
    /// Error{usage} for no column, or a window without extent.
    Coverage(Window window, std::size_t columns, std::size_t classes);

    /// `start` .. `end` belongs to class `which`, as far as it lies in the window. Time that is added twice
    /// counts twice. Costs as much as the columns it touches.
    void add(Nanoseconds start, Nanoseconds end, std::size_t which);

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] Nanoseconds covered(std::size_t column, std::size_t which) const {
        return covered_[column * classes_ + which];
    }
    /// Where the column begins; boundary(columns()) is the end of the window.
    [[nodiscard]] Nanoseconds boundary(std::size_t column) const;
    /// The column that a time of the window lies in.
    [[nodiscard]] std::size_t column_of(Nanoseconds time) const;
    void clear();

  private:
    Window window_;
    std::size_t columns_;
    std::size_t classes_;
    std::vector<Nanoseconds> covered_; ///< By column, then by class.
};

/// Neighbouring columns of one colour.
struct ColorRun {
    std::size_t begin = 0, end = 0; ///< Columns.
    Color color;
};

/// The colours of the columns: that of the one class that fills it, or the mixture of those in it by their
/// times, as light mixes. `background` is where nothing is; runs of nothing but it are left out.
std::vector<ColorRun> color_runs(Coverage const& coverage, std::vector<Color> const& colors,
                                 Color background);

} // namespace espalier::trace
