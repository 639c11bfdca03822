// A trace as a value: the parts of the machine (containers), their activities over time (states), messages
// and steals between threads (links), values over time (samples), and the order of tasks (dependencies).
// Traces come from recorded runs, simulations and files. Times are integer nanoseconds, so that sums are
// exact.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::trace {

using Nanoseconds = std::int64_t;

/// Rounds a time in seconds.
inline Nanoseconds nanoseconds(double seconds) {
    return std::llround(seconds * 1e9);
}

/// Containers form a tree of four levels: machine > process > NUMA node > thread.
enum class Place : std::uint8_t { machine, process, node, thread };

struct Container {
    std::string name; ///< Viewers show about 8 characters.
    Place place = Place::machine;
    std::int32_t parent = -1; ///< Smaller than the container's own index; -1 for a machine.
    bool operator==(Container const&) const = default;
};

/// The category under which statistics count the time of a state.
enum class Category : std::uint8_t { work, communication, overhead, idle };

struct Color {
    std::uint8_t red = 0, green = 0, blue = 0;
    bool operator==(Color const&) const = default;
};

struct StateKind {
    std::string name; ///< Unique in a trace.
    Category category = Category::work;
    Color color;
    bool operator==(StateKind const&) const = default;
};

/// The activity of a thread from `start` to `end`; on a process, a phase of the whole computation.
struct State {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    /// Unique in the trace: task graphs that run one after the other share no numbers.
    std::int64_t task = -1;
    std::int64_t cblk = -1;
    std::int32_t container = 0;
    std::int16_t kind = 0;
    std::int16_t level = -1; ///< In the elimination tree; 0 is the root.
    bool continued = false;  ///< The rest of a state after a nested one.
    bool operator==(State const&) const = default;
};

enum class LinkKind : std::uint8_t { message, steal };

/// A message from thread to thread, or a task that thread `to` stole from thread `from`.
struct Link {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::int64_t bytes = 0; ///< The size of a message.
    std::int64_t tag = 0; ///< The tag of a message, which may be the number of its task; the task of a steal.
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t distance = 0; ///< The distance of a steal, in the unit of the policy.
    LinkKind kind = LinkKind::message;
    bool operator==(Link const&) const = default;
};

/// One end of a message, as its process recorded it. Ends with equal processes and tag are joined in the
/// order of their times, since MPI messages do not overtake each other.
struct MessageEnd {
    Nanoseconds time = 0;
    std::int64_t bytes = 0;
    std::int64_t tag = 0;
    std::int32_t from_process = 0;
    std::int32_t to_process = 0;
    std::int32_t container = 0;
    bool sent = false;
};

struct Variable {
    std::string name;
    std::string unit;
    Place place = Place::process; ///< The containers that have this variable.
    bool operator==(Variable const&) const = default;
};

/// The value of a variable from `time` on.
struct Sample {
    Nanoseconds time = 0;
    double value = 0;
    std::int32_t container = 0;
    std::int32_t variable = 0;
    bool operator==(Sample const&) const = default;
};

/// Task `after` may start when task `before` has ended.
struct Dependency {
    std::int64_t before = 0;
    std::int64_t after = 0;
    auto operator<=>(Dependency const&) const = default;
};

/// The input of a trace, in any order.
struct TraceParts {
    /// Facts such as "matrix" and "threads"; "origin" is "measured" or "predicted".
    std::map<std::string, std::string> metadata;
    std::vector<Container> containers;
    std::vector<StateKind> kinds;
    std::vector<State> states;
    std::vector<Link> links;
    std::vector<MessageEnd> message_ends;
    std::vector<Variable> variables;
    std::vector<Sample> samples;
    std::vector<Dependency> dependencies;
    std::int64_t dropped_events = 0;     ///< Events that were lost for lack of memory.
    std::int64_t unmatched_messages = 0; ///< Ends of messages without the other end.
    std::int64_t early_messages = 0;     ///< Messages received before they were sent, as clocks disagree.
    Nanoseconds earliest_by = 0;         ///< The largest such difference.
};

/// Calls visit(time) for all times, which it may change.
template <class Visit> void for_each_time(TraceParts& parts, Visit const& visit) {
    for (State& state : parts.states) visit(state.start), visit(state.end);
    for (Link& link : parts.links) visit(link.start), visit(link.end);
    for (MessageEnd& end : parts.message_ends) visit(end.time);
    for (Sample& sample : parts.samples) visit(sample.time);
}

/// A sorted and checked trace, which never changes.
class Trace {
  public:
    Trace() = default;

    /// Sorts the parts, joins the ends of messages, and cuts states around nested ones, so that a container
    /// is in one state at a time. If there are negative times, the trace is shifted to begin at 0. The end of
    /// an early message is moved to its start. Error{bad_input} names an index out of range, a state that
    /// ends before it starts, two states that overlap without nesting, or a state of a machine or NUMA node.
    explicit Trace(TraceParts parts);

    [[nodiscard]] std::map<std::string, std::string> const& metadata() const { return parts_.metadata; }
    [[nodiscard]] std::vector<Container> const& containers() const { return parts_.containers; }
    [[nodiscard]] std::vector<StateKind> const& kinds() const { return parts_.kinds; }
    /// Sorted by container, then by start.
    [[nodiscard]] std::vector<State> const& states() const { return parts_.states; }
    /// Sorted by start.
    [[nodiscard]] std::span<State const> states_of(std::int64_t container) const;
    /// Sorted by start.
    [[nodiscard]] std::vector<Link> const& links() const { return parts_.links; }
    [[nodiscard]] std::vector<Variable> const& variables() const { return parts_.variables; }
    /// Sorted by time.
    [[nodiscard]] std::vector<Sample> const& samples() const { return parts_.samples; }
    /// Sorted by `after`, then `before`, without duplicates. Empty if not recorded.
    [[nodiscard]] std::vector<Dependency> const& dependencies() const { return parts_.dependencies; }
    [[nodiscard]] std::int64_t dropped_events() const { return parts_.dropped_events; }
    [[nodiscard]] std::int64_t unmatched_messages() const { return parts_.unmatched_messages; }
    /// Messages whose end was moved to their start, and the largest such difference.
    [[nodiscard]] std::int64_t early_messages() const { return parts_.early_messages; }
    [[nodiscard]] Nanoseconds earliest_by() const { return parts_.earliest_by; }

    /// The first and the last time of any record.
    [[nodiscard]] Nanoseconds begin() const { return begin_; }
    [[nodiscard]] Nanoseconds end() const { return end_; }
    /// The value of a metadata key, or "".
    [[nodiscard]] std::string_view about(std::string const& key) const;
    /// The containers at `place`, depth first.
    [[nodiscard]] std::vector<std::int32_t> at(Place place) const;
    /// The nearest container at `place` on the path from `container`, included, to its root; -1 if there is
    /// none.
    [[nodiscard]] std::int32_t ancestor(std::int64_t container, Place place) const;

  private:
    TraceParts parts_;
    std::vector<std::size_t> first_state_; ///< Per container and one past the last: index into parts_.states.
    Nanoseconds begin_ = 0;
    Nanoseconds end_ = 0;
};

/// Joins the parts of several processes. Machines of one name become one container. The metadata of the first
/// part is kept. Error{usage} if kinds or variables differ.
TraceParts merge(std::vector<TraceParts> parts);

/// Converts parts to bytes, for another process of the same program, and back. unpack() throws
/// Error{internal} for bytes that pack() did not write.
std::vector<std::byte> pack(TraceParts const& parts);
TraceParts unpack(std::span<std::byte const> bytes);

/// Adds a state of kind `idle` to every thread wherever it has no state between `begin` and `end`. The states
/// of a thread must not overlap. Simulations use it.
void fill_idle(TraceParts& parts, std::int16_t idle, Nanoseconds begin, Nanoseconds end);

char const* to_string(Place place);
char const* to_string(Category category);
char const* to_string(LinkKind kind);

} // namespace espalier::trace
