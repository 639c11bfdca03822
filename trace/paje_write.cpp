#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trace/kinds.hpp"
#include "trace/paje.hpp"

namespace espalier::trace {
namespace {

// The events and their fields; the number of an event is its index. SetTask is SetState with more fields.
struct Definition {
    std::string_view event, fields;
};
constexpr Definition definitions[] = {
    {"DefineContainerType", "Alias Type Name"},
    {"DefineStateType", "Alias Type Name"},
    {"DefineVariableType", "Alias Type Name Color Unit"},
    {"DefineLinkType", "Alias Type StartContainerType EndContainerType Name"},
    {"DefineEventType", "Alias Type Name"},
    {"DefineEntityValue", "Alias Type Name Color Category"},
    {"CreateContainer", "Time Alias Type Container Name"},
    {"DestroyContainer", "Time Type Name"},
    {"SetState", "Time Type Container Value"},
    {"SetTask", "Time Type Container Value Task Cblk Level Continued"},
    {"SetVariable", "Time Type Container Value"},
    {"StartLink", "Time Type Container StartContainer Value Key Bytes Tag Distance"},
    {"EndLink", "Time Type Container EndContainer Value Key"},
    {"NewEvent", "Time Type Container Value"}};

struct EventNumber {
    int number = 0;
    // Without a definition of this name, the search leaves the table, which is an error at compile time.
    consteval EventNumber(std::string_view name) {
        while (definitions[number].event != name) ++number;
    }
    consteval EventNumber(char const* name) : EventNumber(std::string_view(name)) {}
};

std::string_view type_of_field(std::string_view field, std::string_view event) {
    if (field == "Time") return "date";
    if (field == "Color") return "color";
    if (field == "Value" && event == "SetVariable") return "double";
    for (std::string_view const integer : {"Task", "Cblk", "Level", "Continued", "Bytes", "Tag", "Distance"})
        if (field == integer) return "int";
    return "string";
}

// Values are cut at this length, as ViTE reads lines of at most 4096 bytes.
constexpr std::size_t longest_value = 3000;

std::string quoted(std::string_view value) {
    std::string text = "\"";
    for (char const c : value.substr(0, longest_value))
        text += c == '"' ? '\'' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    return text + '"';
}

std::string quoted(Color color) {
    return fmt::format("\"{:.3f} {:.3f} {:.3f}\"", color.red / 255.0, color.green / 255.0,
                       color.blue / 255.0);
}

// Aliases of types of containers, by place.
constexpr std::array<std::string_view, 4> type_of_place{"M", "P", "N", "T"};

class Writer {
  public:
    Writer(Trace const& trace, Sink const& sink)
        : trace_(trace), sink_(sink), level_of_(trace.containers().size(), unknown_level) {}

    void write() {
        write_definitions();
        define_types();
        define_values();
        create_containers();
        write_information();
        write_events();
        write_dependencies();
        for (auto i = std::ssize(trace_.containers()); i-- > 0;)
            event("DestroyContainer", trace_.end(), "{} c{}", type_of(i), i);
        sink_(text_);
    }

  private:
    static constexpr int unknown_level = -2;

    template <class... Args> void append(fmt::format_string<Args...> text, Args const&... args) {
        fmt::vformat_to(std::back_inserter(text_), text, fmt::make_format_args(args...));
    }
    // A line without time, at the head of the file.
    template <class... Args>
    void define(EventNumber event, fmt::format_string<Args...> fields, Args const&... args) {
        append("{} ", event.number);
        fmt::vformat_to(std::back_inserter(text_), fields, fmt::make_format_args(args...));
        text_ += '\n';
    }
    // A line with a time, in microseconds.
    template <class... Args>
    void event(EventNumber event, Nanoseconds time, fmt::format_string<Args...> fields, Args const&... args) {
        append("{} {}.{:03} ", event.number, time / 1000, time % 1000);
        fmt::vformat_to(std::back_inserter(text_), fields, fmt::make_format_args(args...));
        text_ += '\n';
        if (text_.size() < 1 << 16) return;
        sink_(text_);
        text_.clear();
    }

    void write_definitions() {
        for (int number = 0; number < int(std::size(definitions)); ++number) {
            auto const& [name, fields] = definitions[number];
            append("%EventDef Paje{} {}\n", name == "SetTask" ? "SetState" : name, number);
            for (std::string_view rest = fields; !rest.empty();) {
                std::string_view const field = rest.substr(0, rest.find(' '));
                append("%       {} {}\n", field, type_of_field(field, name));
                rest.remove_prefix(std::min(rest.size(), field.size() + 1));
            }
            append("%EndEventDef\n");
        }
    }

    void define_types() {
        constexpr std::array<std::string_view, 4> names{"Machine", "Process", "Node", "Thread"};
        for (int place = 0; place < 4; ++place)
            define("DefineContainerType", "{} {} {}", type_of_place[place],
                   place == 0 ? "0" : type_of_place[place - 1], names[place]);
        define("DefineEventType", "I M Info");
        define("DefineEventType", "A M After");
        define("DefineStateType", "F P Phase");
        define("DefineStateType", "L T Level");
        define("DefineStateType", "S T State");
        define("DefineLinkType", "G M T T Message");
        define("DefineLinkType", "H M T T Steal");
        for (std::size_t v = 0; v < trace_.variables().size(); ++v) {
            auto const& variable = trace_.variables()[v];
            define("DefineVariableType", "V{} {} {} {} {}", v, type_of_place[int(variable.place)],
                   quoted(variable.name), quoted(distinct_color(v)), quoted(variable.unit));
        }
    }

    // All kinds are values of "State". Kinds of phases are also values of "Phase".
    void define_values() {
        std::vector<bool> of_phase(trace_.kinds().size(), false);
        int deepest = -1;
        for (auto const& state : trace_.states()) {
            if (!is_thread(state.container)) of_phase[state.kind] = true;
            deepest = std::max<int>(deepest, state.level);
        }
        auto const value = [&](char type, std::int64_t number, StateKind const& kind) {
            define("DefineEntityValue", "{}{} {} {} {} {}", type, number, type, quoted(kind.name),
                   quoted(kind.color), to_string(kind.category));
        };
        for (std::size_t k = 0; k < trace_.kinds().size(); ++k) value('S', k, trace_.kinds()[k]);
        for (std::size_t k = 0; k < trace_.kinds().size(); ++k)
            if (of_phase[k]) value('F', k, trace_.kinds()[k]);
        for (int l = 0; l <= deepest; ++l)
            value('L', l, {fmt::format("level {}", l), Category::work, level_color(l, deepest)});
        constexpr Color dark{48, 48, 48};
        for (char const type : {'S', 'F'})
            define("DefineEntityValue", "{}_ {} none {} none", type, type, quoted(dark));
        define("DefineEntityValue", "L_ L idle {} none", quoted(idle_color));
    }

    void create_containers() {
        for (std::size_t i = 0; i < trace_.containers().size(); ++i) {
            auto const& [name, place, parent] = trace_.containers()[i];
            event("CreateContainer", 0, "c{} {} {} {}", i, type_of(i),
                  parent < 0 ? "0" : fmt::format("c{}", parent), quoted(name));
        }
    }

    void write_information() {
        if (trace_.containers().empty()) return;
        inform("time unit", "microseconds");
        for (auto const& [key, value] : trace_.metadata()) inform(key, value);
        for (auto const& [key, count] : {std::pair("dropped events", trace_.dropped_events()),
                                         std::pair("unmatched messages", trace_.unmatched_messages()),
                                         std::pair("early messages", trace_.early_messages()),
                                         std::pair("earliest by nanoseconds", trace_.earliest_by())})
            if (count > 0) inform(key, std::to_string(count));
    }
    void inform(std::string const& key, std::string const& value) {
        event("NewEvent", 0, "I c0 {}", quoted(key + " = " + value));
    }

    // Merges the sorted streams: the states of each container, the starts and ends of links, and the samples.
    void write_events() {
        std::size_t const containers = trace_.containers().size();
        arrivals_.resize(trace_.links().size());
        std::iota(arrivals_.begin(), arrivals_.end(), 0);
        std::ranges::stable_sort(arrivals_, {}, [&](std::size_t link) { return trace_.links()[link].end; });

        using Next = std::pair<Nanoseconds, std::size_t>; // time and stream; the starts of links come first
        std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
        std::vector<Cursor> cursors(containers + 3);
        Nanoseconds time = 0;
        for (std::size_t stream = 0; stream < cursors.size(); ++stream)
            if (next_time(stream, cursors[stream], time)) queue.emplace(time, stream);
        while (!queue.empty()) {
            auto const [now, stream] = queue.top();
            queue.pop();
            write_next(stream, cursors[stream], now);
            if (next_time(stream, cursors[stream], time)) queue.emplace(time, stream);
        }
    }

    struct Cursor {
        std::size_t at = 0;
        bool open = false; ///< The state before `at` must be ended, as the next one starts later.
    };

    bool next_time(std::size_t stream, Cursor const& cursor, Nanoseconds& time) const {
        std::size_t const containers = trace_.containers().size();
        if (stream < containers) {
            auto const states = trace_.states_of(stream);
            if (cursor.open)
                time = states[cursor.at - 1].end;
            else if (cursor.at < states.size())
                time = states[cursor.at].start;
            return cursor.open || cursor.at < states.size();
        }
        if (stream == containers + 2) {
            if (cursor.at < trace_.samples().size()) time = trace_.samples()[cursor.at].time;
            return cursor.at < trace_.samples().size();
        }
        if (cursor.at >= trace_.links().size()) return false;
        time =
            stream == containers ? trace_.links()[cursor.at].start : trace_.links()[arrivals_[cursor.at]].end;
        return true;
    }

    void write_next(std::size_t stream, Cursor& cursor, Nanoseconds time) {
        std::size_t const containers = trace_.containers().size();
        if (stream < containers)
            write_state(stream, cursor, time);
        else if (stream == containers)
            write_departure(cursor.at++);
        else if (stream == containers + 1)
            write_arrival(arrivals_[cursor.at++]);
        else
            write_sample(trace_.samples()[cursor.at++]);
    }

    void write_state(std::size_t container, Cursor& cursor, Nanoseconds time) {
        auto const states = trace_.states_of(container);
        bool const thread = is_thread(container);
        bool const leave = cursor.open;
        State const* const state = leave ? nullptr : &states[cursor.at++];
        if (thread) write_level(container, time, leave ? -1 : state->level);
        char const type = thread ? 'S' : 'F';
        if (leave)
            event("SetState", time, "{} c{} {}_", type, container, type);
        else
            event("SetTask", time, "{} c{} {}{} {} {} {} {}", type, container, type, state->kind, state->task,
                  state->cblk, state->level, int(state->continued));
        cursor.open = state && (cursor.at == states.size() || states[cursor.at].start > state->end);
    }

    // Written only if it changes.
    void write_level(std::size_t container, Nanoseconds time, int level) {
        if (level_of_[container] == level) return;
        level_of_[container] = level;
        event("SetState", time, "L c{} {}", container, level < 0 ? "L_" : fmt::format("L{}", level));
    }

    static char type_of(Link const& link) { return link.kind == LinkKind::message ? 'G' : 'H'; }
    void write_departure(std::size_t i) {
        Link const& link = trace_.links()[i];
        event("StartLink", link.start, "{} c0 c{} {} {} {} {} {}", type_of(link), link.from,
              to_string(link.kind), i, link.bytes, link.tag, link.distance);
    }
    void write_arrival(std::size_t i) {
        Link const& link = trace_.links()[i];
        event("EndLink", link.end, "{} c0 c{} {} {}", type_of(link), link.to, to_string(link.kind), i);
    }
    void write_sample(Sample const& sample) {
        event("SetVariable", sample.time, "V{} c{} {}", sample.variable, sample.container, sample.value);
    }

    // "task before before ...; task before ...", split into lines that viewers can read.
    void write_dependencies() {
        if (trace_.containers().empty()) return;
        std::string value;
        auto const flush = [&] {
            event("NewEvent", trace_.end(), "A c0 {}", quoted(value));
            value.clear();
        };
        std::int64_t task = 0;
        for (auto const& [before, after] : trace_.dependencies()) {
            if (value.size() > longest_value - 100) flush();
            if (value.empty())
                value = std::to_string(after);
            else if (after != task)
                value += "; " + std::to_string(after);
            value += ' ' + std::to_string(before);
            task = after;
        }
        if (!value.empty()) flush();
    }

    [[nodiscard]] std::string_view type_of(std::int64_t container) const {
        return type_of_place[int(trace_.containers()[container].place)];
    }
    [[nodiscard]] bool is_thread(std::int64_t container) const {
        return trace_.containers()[container].place == Place::thread;
    }

    Trace const& trace_;
    Sink const& sink_;
    std::string text_;
    std::vector<std::size_t> arrivals_; ///< Links, sorted by their ends.
    std::vector<int> level_of_;
};

} // namespace

void write_paje(Trace const& trace, Sink const& sink) {
    Writer(trace, sink).write();
}

} // namespace espalier::trace
