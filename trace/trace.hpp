// A trace as a value: who there was (containers), what each did when (states), what went from one to another
// (links), what was counted (samples), and which task had to wait for which (dependencies). The recorder
// makes one of a run, a simulator makes one of a prediction, and the Pajé reader one of a file; statistics
// and pictures read it. Times are integer nanoseconds, so that sums are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::trace {

using Nanoseconds = std::int64_t;

/// Containers form a tree of four levels: machine > process > NUMA node > thread.
enum class Place : std::uint8_t { machine, process, node, thread };

struct Container {
    std::string name; ///< Viewers show about 8 characters.
    Place place = Place::machine;
    std::int32_t parent = -1; ///< Smaller than the container's own index; -1 for a machine.
    bool operator==(Container const&) const = default;
};

/// What the time spent in a state counts as.
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

/// Something that a thread does from `start` to `end`; on a process, a phase of the whole computation.
struct State {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::int64_t task = -1; ///< Unique in the trace, so graphs that run one after the other share no numbers.
    std::int64_t cblk = -1;
    std::int32_t container = 0;
    std::int16_t kind = 0;
    std::int16_t level = -1; ///< Of the elimination tree; 0 is the root.
    bool continued = false;  ///< The rest of a state that another one, nested inside, has interrupted.
    bool operator==(State const&) const = default;
};

enum class LinkKind : std::uint8_t { message, steal };

/// A message from thread to thread; or a task stolen from `from` by `to`.
struct Link {
    Nanoseconds start = 0;
    Nanoseconds end = 0;
    std::int64_t bytes = 0; ///< Of a message.
    std::int64_t tag = 0;   ///< Of a message, its task's number where it is one; the task of a steal.
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t distance = 0; ///< Of a steal: how far the thief went.
    LinkKind kind = LinkKind::message;
    bool operator==(Link const&) const = default;
};

/// One end of a message, as the process at that end knows it. Ends with equal processes and tag are joined
/// in the order of their times, as MPI does not let messages overtake each other.
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
    Place place = Place::process; ///< Containers that have this variable.
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

/// What a trace is made from, in any order.
struct TraceParts {
    /// Shown as they are: "matrix", "threads", ...; "origin" is "measured" or "predicted".
    std::map<std::string, std::string> metadata;
    std::vector<Container> containers;
    std::vector<StateKind> kinds;
    std::vector<State> states;
    std::vector<Link> links;
    std::vector<MessageEnd> message_ends;
    std::vector<Variable> variables;
    std::vector<Sample> samples;
    std::vector<Dependency> dependencies;
    std::int64_t dropped_events = 0; ///< For which the recorder had no memory.
    std::int64_t unmatched_messages = 0;
    std::int64_t early_messages = 0; ///< Received before they were sent, as clocks disagree,
    Nanoseconds earliest_by = 0;     ///< by so much at most.
};

/// Sorted and checked; never changes.
class Trace {
  public:
    Trace() = default;

    /// Sorts the parts, joins the ends of messages, and cuts states that have others nested inside, so that a
    /// container is in one state at a time. Negative times shift the trace so that it begins at 0. A message
    /// that arrives before it was sent (clocks disagree a little) arrives when it was sent, and is counted.
    /// Error{bad_input} naming what does not fit: an index out of range, a state that ends before it starts,
    /// two states that overlap without one being inside the other, a state on a machine or NUMA node.
    explicit Trace(TraceParts parts);

    [[nodiscard]] std::map<std::string, std::string> const& metadata() const { return parts_.metadata; }
    [[nodiscard]] std::vector<Container> const& containers() const { return parts_.containers; }
    [[nodiscard]] std::vector<StateKind> const& kinds() const { return parts_.kinds; }
    /// By container, then by start.
    [[nodiscard]] std::vector<State> const& states() const { return parts_.states; }
    /// By start.
    [[nodiscard]] std::span<State const> states_of(std::size_t container) const;
    /// By start.
    [[nodiscard]] std::vector<Link> const& links() const { return parts_.links; }
    [[nodiscard]] std::vector<Variable> const& variables() const { return parts_.variables; }
    /// By time.
    [[nodiscard]] std::vector<Sample> const& samples() const { return parts_.samples; }
    /// By `after`, then `before`; no duplicates. Empty when not recorded.
    [[nodiscard]] std::vector<Dependency> const& dependencies() const { return parts_.dependencies; }
    [[nodiscard]] std::int64_t dropped_events() const { return parts_.dropped_events; }
    [[nodiscard]] std::int64_t unmatched_messages() const { return parts_.unmatched_messages; }
    /// Whose end was moved to their start, and by how much at most.
    [[nodiscard]] std::int64_t early_messages() const { return parts_.early_messages; }
    [[nodiscard]] Nanoseconds earliest_by() const { return parts_.earliest_by; }

    /// The first and the last time at which something is known.
    [[nodiscard]] Nanoseconds begin() const { return begin_; }
    [[nodiscard]] Nanoseconds end() const { return end_; }
    /// The value of a metadata key, or "".
    [[nodiscard]] std::string_view about(std::string const& key) const;
    /// Indices of the containers at `place`, in the order in which a walk through the tree meets them.
    [[nodiscard]] std::vector<std::size_t> at(Place place) const;
    /// The nearest container at `place` on the way from `container` to its root, itself included; -1 if none.
    [[nodiscard]] std::int32_t ancestor(std::size_t container, Place place) const;

  private:
    TraceParts parts_;
    std::vector<std::size_t> first_state_; ///< For each container and one past the last, into parts_.states.
    Nanoseconds begin_ = 0;
    Nanoseconds end_ = 0;
};

/// The parts that several processes recorded, as one: machines of the same name become one, all else is put
/// side by side. They have the same kinds and variables; Error{usage} otherwise. The first one's metadata
/// counts.
TraceParts merge(std::vector<TraceParts> parts);

/// Parts as bytes, to be sent from one process to another of the same program, and back.
/// unpack(): Error{bad_input} when the bytes are not what pack() makes.
std::vector<std::byte> pack(TraceParts const& parts);
TraceParts unpack(std::span<std::byte const> bytes);

/// Adds a state of kind `idle` to every thread wherever it has none between `begin` and `end`. For
/// simulators, whose workers do nothing else. The states of a thread must not overlap.
void fill_idle(TraceParts& parts, std::int16_t idle, Nanoseconds begin, Nanoseconds end);

char const* to_string(Place place);
char const* to_string(Category category);
char const* to_string(LinkKind kind);

} // namespace espalier::trace
