#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <vector>

#include "trace/kinds.hpp"
#include "trace/paje_lines.hpp"

namespace espalier::trace {
namespace {

constexpr std::array<std::string_view, 4> type_of_place{"M", "P", "N", "T"};
constexpr std::array<std::string_view, 4> name_of_place{"Machine", "Process", "Node", "Thread"};

class Writer {
  public:
    Writer(Trace const& trace, Sink const& sink)
        : trace_(trace), lines_(sink), level_of_(trace.containers().size(), unknown_level) {}

    void write() {
        lines_.raw(paje_definitions);
        define_types();
        define_values();
        create_containers();
        write_information();
        write_events();
        write_dependencies();
        destroy_containers();
        lines_.flush();
    }

  private:
    static constexpr int unknown_level = -2;

    void define_types() {
        for (std::size_t place = 0; place < 4; ++place)
            define(define_container_type, type_of_place[place], place == 0 ? "0" : type_of_place[place - 1])
                .word(name_of_place[place])
                .end();
        define(define_event_type, "I", "M").word("Info").end();
        define(define_event_type, "A", "M").word("After").end();
        define(define_state_type, "F", "P").word("Phase").end();
        define(define_state_type, "L", "T").word("Level").end();
        define(define_state_type, "S", "T").word("State").end();
        define(define_link_type, "G", "M").word("T").word("T").word("Message").end();
        define(define_link_type, "H", "M").word("T").word("T").word("Steal").end();
        for (std::size_t v = 0; v < trace_.variables().size(); ++v) {
            auto const& variable = trace_.variables()[v];
            lines_.event(define_variable_type)
                .word('V', v)
                .word(type_of_place[int(variable.place)])
                .quoted(variable.name)
                .color(distinct_color(v))
                .quoted(variable.unit)
                .end();
        }
    }
    PajeLines& define(PajeNumber number, std::string_view alias, std::string_view parent) {
        return lines_.event(number).word(alias).word(parent);
    }

    // All kinds are values of "State". Kinds of phases are also values of "Phase".
    void define_values() {
        std::vector<bool> of_phase(trace_.kinds().size(), false);
        int deepest = -1;
        for (auto const& state : trace_.states()) {
            if (!is_thread(state.container)) of_phase[state.kind] = true;
            deepest = std::max<int>(deepest, state.level);
        }
        auto const value = [&](char prefix, std::int64_t number, std::string_view type,
                               StateKind const& kind) {
            lines_.event(define_entity_value).word(prefix, number).word(type);
            lines_.quoted(kind.name).color(kind.color).word(to_string(kind.category)).end();
        };
        for (std::size_t k = 0; k < trace_.kinds().size(); ++k) value('S', k, "S", trace_.kinds()[k]);
        for (std::size_t k = 0; k < trace_.kinds().size(); ++k)
            if (of_phase[k]) value('F', k, "F", trace_.kinds()[k]);
        for (int l = 0; l <= deepest; ++l)
            value('L', l, "L", {"level " + std::to_string(l), Category::work, level_color(l, deepest)});
        constexpr Color dark{48, 48, 48};
        for (auto const& [alias, type] : {std::pair("S_", "S"), std::pair("F_", "F")})
            define(define_entity_value, alias, type).word("none").color(dark).word("none").end();
        define(define_entity_value, "L_", "L").word("idle").color(idle_color).word("none").end();
    }

    void create_containers() {
        for (std::size_t i = 0; i < trace_.containers().size(); ++i) {
            auto const& container = trace_.containers()[i];
            lines_.event(create_container).time(0).word('c', i).word(type_of(i));
            if (container.parent < 0)
                lines_.word("0");
            else
                lines_.word('c', container.parent);
            lines_.quoted(container.name).end();
        }
    }

    void destroy_containers() {
        for (std::size_t i = trace_.containers().size(); i-- > 0;)
            lines_.event(destroy_container).time(trace_.end()).word(type_of(i)).word('c', i).end();
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
        lines_.event(new_event).time(0).word("I").word("c0").quoted(key + " = " + value).end();
    }

    // Merges the sorted streams: the states of each container, the starts and ends of links, and the samples.
    void write_events() {
        std::size_t const containers = trace_.containers().size();
        arrivals_.resize(trace_.links().size());
        std::iota(arrivals_.begin(), arrivals_.end(), 0);
        std::stable_sort(arrivals_.begin(), arrivals_.end(), [&](std::size_t a, std::size_t b) {
            return trace_.links()[a].end < trace_.links()[b].end;
        });

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
        lines_.event(leave ? set_state : set_task).time(time).word(thread ? "S" : "F").word('c', container);
        if (leave)
            lines_.word(thread ? "S_" : "F_").end();
        else
            lines_.word(thread ? 'S' : 'F', state->kind)
                .integer(state->task)
                .integer(state->cblk)
                .integer(state->level)
                .integer(state->continued ? 1 : 0)
                .end();
        cursor.open = state && (cursor.at == states.size() || states[cursor.at].start > state->end);
    }

    // Written only if it changes.
    void write_level(std::size_t container, Nanoseconds time, int level) {
        if (level_of_[container] == level) return;
        level_of_[container] = level;
        lines_.event(set_state).time(time).word("L").word('c', container);
        if (level < 0)
            lines_.word("L_").end();
        else
            lines_.word('L', level).end();
    }

    PajeLines& link_line(PajeNumber number, Nanoseconds time, Link const& link, std::int32_t container) {
        lines_.event(number).time(time).word(link.kind == LinkKind::message ? "G" : "H").word("c0");
        return lines_.word('c', container).word(to_string(link.kind));
    }
    void write_departure(std::size_t i) {
        Link const& link = trace_.links()[i];
        link_line(start_link, link.start, link, link.from).integer(i);
        lines_.integer(link.bytes).integer(link.tag).integer(link.distance).end();
    }
    void write_arrival(std::size_t i) {
        Link const& link = trace_.links()[i];
        link_line(end_link, link.end, link, link.to).integer(i).end();
    }
    void write_sample(Sample const& sample) {
        lines_.event(set_variable).time(sample.time).word('V', sample.variable).word('c', sample.container);
        lines_.number(sample.value).end();
    }

    // "task before before ...; task before ...", split into lines that viewers can read.
    void write_dependencies() {
        if (trace_.containers().empty()) return;
        std::string value;
        auto const flush = [&] {
            lines_.event(new_event).time(trace_.end()).word("A").word("c0").quoted(value).end();
            value.clear();
        };
        std::int64_t task = 0;
        for (auto const& [before, after] : trace_.dependencies()) {
            if (value.size() > PajeLines::longest - 100) flush();
            if (value.empty())
                value = std::to_string(after);
            else if (after != task)
                value += "; " + std::to_string(after);
            value += ' ' + std::to_string(before);
            task = after;
        }
        if (!value.empty()) flush();
    }

    [[nodiscard]] std::string_view type_of(std::size_t container) const {
        return type_of_place[int(trace_.containers()[container].place)];
    }
    [[nodiscard]] bool is_thread(std::int64_t container) const {
        return trace_.containers()[container].place == Place::thread;
    }

    Trace const& trace_;
    PajeLines lines_;
    std::vector<std::size_t> arrivals_; ///< Links, sorted by their ends.
    std::vector<int> level_of_;
};

} // namespace

void write_paje(Trace const& trace, Sink const& sink) {
    Writer(trace, sink).write();
}

} // namespace espalier::trace
