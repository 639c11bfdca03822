#include "trace/trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"

namespace espalier::trace {
namespace {

template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> what, Args const&... args) {
    throw Error(Status::bad_input,
                fmt::format("trace: {}", fmt::vformat(what, fmt::make_format_args(args...))));
}

template <class Int> bool within(Int index, std::size_t size) {
    return index >= 0 && std::cmp_less(index, size);
}

// A tenth of the range of 64 bits, so that differences of two times cannot overflow.
constexpr Nanoseconds latest = std::numeric_limits<Nanoseconds>::max() / 10;

void check_time(Nanoseconds time, char const* what) {
    if (time < -latest || time > latest) refuse("{} at {} ns, which is out of range", what, time);
}

void check_containers(TraceParts const& parts) {
    auto const& containers = parts.containers;
    for (std::size_t i = 0; i < containers.size(); ++i) {
        auto const& [name, place, parent] = containers[i];
        if (parent != -1 && !within(parent, i)) refuse("container '{}' precedes its parent", name);
        if (place == Place::machine ? parent != -1
                                    : parent == -1 || int(containers[parent].place) != int(place) - 1)
            refuse("container '{}', a {}, has the wrong parent", name, to_string(place));
    }
    std::set<std::string_view> names;
    for (auto const& kind : parts.kinds)
        if (!names.insert(kind.name).second) refuse("two kinds of states are named '{}'", kind.name);
}

void check_state(TraceParts const& parts, State const& state) {
    if (!within(state.container, parts.containers.size())) refuse("a state has no container");
    auto const& container = parts.containers[state.container];
    if (container.place != Place::thread && container.place != Place::process)
        refuse("a state in '{}', which is neither a thread nor a process", container.name);
    if (!within(state.kind, parts.kinds.size())) refuse("a state of unknown kind in '{}'", container.name);
    check_time(state.start, "a state starts");
    check_time(state.end, "a state ends");
    if (state.end < state.start) refuse("a state in '{}' ends before it starts", container.name);
}

void check_indices(TraceParts const& parts) {
    std::size_t const size = parts.containers.size();
    for (auto const& state : parts.states) check_state(parts, state);
    for (auto const& link : parts.links) {
        for (std::int32_t const end : {link.from, link.to})
            if (!within(end, size) || parts.containers[end].place != Place::thread)
                refuse("a link does not lead from thread to thread");
        check_time(link.start, "a link starts");
        check_time(link.end, "a link ends");
    }
    for (auto const& end : parts.message_ends) {
        if (!within(end.container, size) || parts.containers[end.container].place != Place::thread)
            refuse("a message end is not in a thread");
        check_time(end.time, "a message");
    }
    for (auto const& sample : parts.samples) {
        if (!within(sample.container, size) || !within(sample.variable, parts.variables.size()))
            refuse("a sample of an unknown variable or container");
        auto const& container = parts.containers[sample.container];
        auto const& variable = parts.variables[sample.variable];
        if (variable.place != container.place)
            refuse("variable '{}' is sampled in '{}', which is not a {}", variable.name, container.name,
                   to_string(variable.place));
        check_time(sample.time, "a sample");
        if (!std::isfinite(sample.value))
            refuse("variable '{}' has a value that is not a finite number", variable.name);
    }
}

// Ends are sorted by channel, then sent before received, then by time.
void join_messages(TraceParts& parts) {
    auto channel = [](MessageEnd const& end) { return std::tie(end.from_process, end.to_process, end.tag); };
    auto& ends = parts.message_ends;
    std::sort(ends.begin(), ends.end(), [&](MessageEnd const& a, MessageEnd const& b) {
        return std::tuple_cat(channel(a), std::make_tuple(!a.sent, a.time)) <
               std::tuple_cat(channel(b), std::make_tuple(!b.sent, b.time));
    });
    for (auto first = ends.begin(); first != ends.end();) {
        auto const last = std::find_if(first, ends.end(),
                                       [&](MessageEnd const& e) { return channel(e) != channel(*first); });
        auto const received = std::find_if(first, last, [](MessageEnd const& e) { return !e.sent; });
        auto const joined = std::min(received - first, last - received);
        for (std::ptrdiff_t i = 0; i < joined; ++i)
            parts.links.push_back({first[i].time, received[i].time, first[i].bytes, first[i].tag,
                                   first[i].container, received[i].container, 0, LinkKind::message});
        parts.unmatched_messages += (last - first) - 2 * joined;
        first = last;
    }
    ends.clear();
}

// A message that arrives before it is sent arrives when it is sent.
void move_early_messages(TraceParts& parts) {
    for (Link& link : parts.links) {
        if (link.end >= link.start) continue;
        ++parts.early_messages;
        parts.earliest_by = std::max(parts.earliest_by, link.start - link.end);
        link.end = link.start;
    }
}

void shift_to_zero(TraceParts& parts) {
    Nanoseconds first = 0;
    for_each_time(parts, [&](Nanoseconds time) { first = std::min(first, time); });
    if (first < 0) for_each_time(parts, [&](Nanoseconds& time) { time -= first; });
}

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
        refuse("states '{}' and '{}' overlap in '{}' at {} ns", kinds[open_.back().state.kind].name,
               kinds[state.kind].name, parts_.containers[state.container].name, state.start);
    }

    TraceParts const& parts_;
    std::vector<State>& flat_;
    std::vector<Open> open_;
};

// Sorts parts.states by container and start, and cuts states around nested ones. The pieces after the first
// are `continued`. A state that is wholly covered keeps an empty piece. Error{bad_input} for two states that
// overlap without nesting. O(n log n), or O(n) if the states are already flat.
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

} // namespace

Trace::Trace(TraceParts parts) : parts_(std::move(parts)) {
    check_containers(parts_);
    check_indices(parts_);
    join_messages(parts_);
    shift_to_zero(parts_);
    flatten_states(parts_);
    move_early_messages(parts_);
    std::ranges::stable_sort(parts_.links, {}, &Link::start);
    std::ranges::stable_sort(parts_.samples, {}, &Sample::time);
    auto& dependencies = parts_.dependencies;
    std::ranges::sort(dependencies, {}, [](Dependency const& d) { return std::tie(d.after, d.before); });
    dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());

    first_state_.assign(parts_.containers.size() + 1, 0);
    for (auto const& state : parts_.states) ++first_state_[state.container + 1];
    std::partial_sum(first_state_.begin(), first_state_.end(), first_state_.begin());

    begin_ = std::numeric_limits<Nanoseconds>::max();
    for_each_time(parts_, [&](Nanoseconds time) {
        begin_ = std::min(begin_, time);
        end_ = std::max(end_, time);
    });
    begin_ = std::min(begin_, end_);
}

std::span<State const> Trace::states_of(std::int64_t container) const {
    return std::span(parts_.states)
        .subspan(first_state_[container], first_state_[container + 1] - first_state_[container]);
}

std::string_view Trace::about(std::string const& key) const {
    auto const found = parts_.metadata.find(key);
    return found == parts_.metadata.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<std::int32_t> Trace::at(Place place) const {
    std::vector<std::vector<std::int32_t>> children(containers().size());
    std::vector<std::int32_t> pending; // a stack
    for (auto i = static_cast<std::int32_t>(containers().size()); i-- > 0;) {
        if (containers()[i].parent < 0)
            pending.push_back(i);
        else
            children[containers()[i].parent].push_back(i);
    }
    std::vector<std::int32_t> found;
    while (!pending.empty()) {
        std::int32_t const next = pending.back();
        pending.pop_back();
        if (containers()[next].place == place) found.push_back(next);
        pending.insert(pending.end(), children[next].begin(), children[next].end());
    }
    return found;
}

std::int32_t Trace::ancestor(std::int64_t container, Place place) const {
    auto at = static_cast<std::int32_t>(container);
    while (at >= 0 && containers()[at].place != place) at = containers()[at].parent;
    return at;
}

void fill_idle(TraceParts& parts, std::int16_t idle, Nanoseconds begin, Nanoseconds end) {
    std::vector<std::vector<std::pair<Nanoseconds, Nanoseconds>>> busy(parts.containers.size());
    for (auto const& state : parts.states)
        if (within(state.container, busy.size())) busy[state.container].emplace_back(state.start, state.end);
    for (std::size_t i = 0; i < busy.size(); ++i) {
        if (parts.containers[i].place != Place::thread) continue;
        std::sort(busy[i].begin(), busy[i].end());
        busy[i].emplace_back(end, end);
        Nanoseconds from = begin;
        for (auto const& [start, stop] : busy[i]) {
            if (start > from && from < end)
                parts.states.push_back({.start = from,
                                        .end = std::min(start, end),
                                        .container = static_cast<std::int32_t>(i),
                                        .kind = idle});
            from = std::max(from, stop);
        }
    }
}

char const* to_string(Place place) {
    constexpr char const* names[] = {"machine", "process", "node", "thread"};
    return names[int(place)];
}

char const* to_string(Category category) {
    constexpr char const* names[] = {"work", "communication", "overhead", "idle"};
    return names[int(category)];
}

char const* to_string(LinkKind kind) {
    return kind == LinkKind::message ? "message" : "steal";
}

} // namespace espalier::trace
