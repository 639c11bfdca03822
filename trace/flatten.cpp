#include "trace/flatten.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

// Flattens the states of one container, which come sorted by start, outer states first. open_ holds the
// states around the current time, outermost first; `from` is the time from which a state has not been
// emitted.
class Flattening {
  public:
    Flattening(TraceParts const& parts, std::vector<State>& flat) : parts_(parts), flat_(flat) {}

    void add(State const& state) {
        close_until(state.start);
        if (!open_.empty()) {
            Open& around = open_.back();
            if (state.end > around.state.end) overlap(state);
            if (state.start > around.from) emit(around, state.start);
        }
        open_.push_back({state, state.start, false});
    }
    void finish() { close_until(std::numeric_limits<Nanoseconds>::max()); }

  private:
    struct Open {
        State state;
        Nanoseconds from;
        bool emitted;
    };

    // A state that ends at the start of the next one does not contain it.
    void close_until(Nanoseconds time) {
        while (!open_.empty() && open_.back().state.end <= time) {
            Open last = open_.back();
            if (last.from < last.state.end || !last.emitted) emit(last, last.state.end);
            open_.pop_back();
            if (!open_.empty()) open_.back().from = last.state.end;
        }
    }
    void emit(Open& open, Nanoseconds end) {
        State piece = open.state;
        piece.start = open.from;
        piece.end = end;
        piece.continued = open.state.continued || open.emitted;
        flat_.push_back(piece);
        open.emitted = true;
        open.from = end;
    }
    [[noreturn]] void overlap(State const& state) const {
        auto const& kinds = parts_.kinds;
        throw Error(Status::bad_input,
                    fmt::format("trace: states '{}' and '{}' overlap in '{}' at {} ns",
                                kinds[open_.back().state.kind].name, kinds[state.kind].name,
                                parts_.containers[state.container].name, state.start));
    }

    TraceParts const& parts_;
    std::vector<State>& flat_;
    std::vector<Open> open_;
};

} // namespace

void flatten_states(TraceParts& parts) {
    auto const before = [](State const& a, State const& b) {
        return std::make_tuple(a.container, a.start, -a.end) < std::make_tuple(b.container, b.start, -b.end);
    };
    // An empty state keeps its place before a state that starts at the same time.
    auto const by_start = [](State const& a, State const& b) {
        return std::tie(a.container, a.start) < std::tie(b.container, b.start);
    };
    auto& states = parts.states;
    bool flat = std::is_sorted(states.begin(), states.end(), by_start);
    for (std::size_t i = 1; flat && i < states.size(); ++i)
        flat = states[i].container != states[i - 1].container || states[i].start >= states[i - 1].end;
    if (flat) return;

    std::stable_sort(states.begin(), states.end(), before);
    std::vector<State> result;
    result.reserve(states.size());
    for (std::size_t i = 0; i < states.size();) {
        Flattening flattening(parts, result);
        auto const container = states[i].container;
        for (; i < states.size() && states[i].container == container; ++i) flattening.add(states[i]);
        flattening.finish();
    }
    states = std::move(result);
}

} // namespace espalier::trace
