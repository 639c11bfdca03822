// The notes for the user in a report. Process 0 makes them, and nothing happens on other processes. A note
// belongs to the analysis, to the factors, or to the calls that follow, and is dropped when it is no longer
// true.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "espalier/options.hpp"
#include "solver/process_context.hpp"

namespace espalier {

class Notes {
  public:
    /// Notes go to `list`, which is that of the report, and to Options::log. The arguments must outlive this.
    Notes(ProcessContext const& context, Options const& options, std::vector<std::string>& list)
        : context_(context), options_(options), list_(list) {}

    /// Adds a note. If this fails among several processes, the call fails only at its end, because the other
    /// processes continue with it.
    template <class First, class... Parts>
    void add(fmt::format_string<First, Parts...> text, First&& first, Parts&&... parts) {
        add_made_by(
            [&] { return fmt::format(text, std::forward<First>(first), std::forward<Parts>(parts)...); });
    }
    void add(std::string_view text) { add("{}", text); }
    /// Adds the note that make() returns. Only process 0 calls it.
    template <class Make> void add_made_by(Make const& make) {
        if (!context_.is_root()) return;
        auto const tell = [&] { take(make()); };
        if (context_.is_alone()) return tell();
        if (auto problem = error_of(tell)) problem_ = std::move(problem);
    }
    /// Adds a note on the current factors.
    template <class... Parts> void add_on_factors(fmt::format_string<Parts...> text, Parts&&... parts) {
        add_made_by(
            [&] { return on_factors_.emplace_back(fmt::format(text, std::forward<Parts>(parts)...)); });
    }
    /// Adds a note unless there is the same one already, or the text is empty.
    void add_once(std::string const& text);
    /// Replaces the note `current`, and sets it to `text`, unless both are equal.
    void replace(std::string& current, std::string const& text);

    /// Drops all notes, at the beginning of an analysis.
    void clear() { list_.clear(); }
    /// States that all notes so far belong to the analysis.
    void end_analysis() { of_analysis_ = list_.size(); }
    /// Drops all notes except those of the analysis.
    void drop_after_analysis();
    /// Drops the notes of add_on_factors(), because other factors follow.
    void drop_on_factors();

    /// Throws the error of a note that failed among several processes, at the end of a call.
    void throw_problem();

  private:
    void take(std::string text);

    ProcessContext const& context_;
    Options const& options_;
    std::vector<std::string>& list_;
    std::size_t of_analysis_ = 0;         // the number of notes of the analysis, which come first
    std::vector<std::string> on_factors_; // on process 0
    std::optional<Error> problem_;
};

} // namespace espalier
