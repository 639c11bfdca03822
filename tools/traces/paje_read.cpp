#include "tools/traces/paje_read.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"
#include "tools/traces/paje_lane.hpp"
#include "tools/traces/paje_lexer.hpp"
#include "tools/traces/paje_places.hpp"
#include "trace/kinds.hpp"

namespace espalier::trace {
namespace {

using Field = PajeField;

// Allows look-ups by a part of a line without a copy.
struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class Value> using Names = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

enum class Meaning : std::uint8_t { container, state, variable, link, information, dependency, nothing };

struct Type {
    Meaning meaning = Meaning::nothing;
    std::string name;
    std::int32_t variable = -1;
    Names<std::int16_t> kinds; ///< The kind of each value of a type of states.
};

struct HalfLink {
    Link link;
    bool started = false;
};

constexpr std::int64_t most_events = 200'000'000;

class Reader {
  public:
    explicit Reader(std::string const& path) : path_(path), lexer_(path) {
        types_.push_back({});
        types_by_name_.emplace("0", 0);
    }

    Trace read() {
        PajeLine line;
        std::int64_t events = 0;
        while (lexer_.next(line)) {
            if (++events > most_events)
                throw Error(Status::out_of_memory,
                            fmt::format("trace '{}' has more than {} events", path_, most_events));
            if (line.has(Field::time)) advance(line[Field::time]);
            handle(line);
        }
        if (events == 0) lexer_.fail("the file has no events, so it is not a Paje trace");
        for (StateLane& lane : lanes_) lane.close(now_, parts_.states);
        for (auto const& [key, halves] : pending_) parts_.unmatched_messages += std::ssize(halves);
        place_containers(parts_, type_names_);
        try {
            return Trace(std::move(parts_));
        } catch (Error const& error) {
            throw Error(error.status(), fmt::format("{}: {}", path_, error.what()));
        }
    }

  private:
    void advance(std::string_view text) {
        Nanoseconds const time = lexer_.time(text);
        if (time < now_) lexer_.fail("the time is before that of the previous event");
        now_ = time;
    }

    void handle(PajeLine const& line) {
        switch (line.event) {
        case PajeEvent::define_container_type:
            return define_type(line, Meaning::container);
        case PajeEvent::define_state_type:
            return define_type(line, Meaning::state);
        case PajeEvent::define_variable_type:
            return define_type(line, Meaning::variable);
        case PajeEvent::define_link_type:
            return define_type(line, Meaning::link);
        case PajeEvent::define_event_type:
            return define_type(line, line[Field::name] == "Info"    ? Meaning::information
                                     : line[Field::name] == "After" ? Meaning::dependency
                                                                    : Meaning::nothing);
        case PajeEvent::define_entity_value:
            return define_value(line);
        case PajeEvent::create_container:
            return create_container(line);
        case PajeEvent::destroy_container:
            return destroy_container(line);
        case PajeEvent::set_state:
        case PajeEvent::push_state:
        case PajeEvent::pop_state:
        case PajeEvent::reset_state:
            return change_state(line);
        case PajeEvent::set_variable:
        case PajeEvent::add_variable:
        case PajeEvent::sub_variable:
            return change_variable(line);
        case PajeEvent::start_link:
        case PajeEvent::end_link:
            return half_link(line);
        case PajeEvent::new_event:
            return information(line);
        case PajeEvent::other:
            return;
        }
    }

    // Later lines may use the alias, or the name if it is not the alias of another definition.
    template <class Map> void enter(Map& map, PajeLine const& line, std::int32_t index) {
        auto const name = line[Field::name];
        auto const alias = line.has(Field::alias) ? line[Field::alias] : name;
        if (alias.empty()) lexer_.fail("a definition without a name");
        if (!map.try_emplace(std::string(alias), index).second)
            lexer_.fail(fmt::format("'{}' is defined twice", alias));
        if (!name.empty()) map.try_emplace(std::string(name), index);
    }

    std::int32_t find_type(std::string_view name) const {
        auto const found = types_by_name_.find(name);
        if (found == types_by_name_.end()) lexer_.fail(fmt::format("type '{}' is not defined", name));
        return found->second;
    }

    std::int32_t find_container(std::string_view name) const {
        auto const found = containers_by_name_.find(name);
        if (found == containers_by_name_.end())
            lexer_.fail(fmt::format("container '{}' does not exist", name));
        if (destroyed_[found->second]) lexer_.fail(fmt::format("container '{}' was destroyed", name));
        return found->second;
    }

    void define_type(PajeLine const& line, Meaning meaning) {
        if (meaning != Meaning::link || !line[Field::type].empty()) find_type(line[Field::type]);
        enter(types_by_name_, line, static_cast<std::int32_t>(types_.size()));
        Type type;
        type.meaning = meaning;
        type.name = line[Field::name];
        if (meaning == Meaning::state && type.name == "Level") type.meaning = Meaning::nothing;
        if (meaning == Meaning::variable) {
            type.variable = static_cast<std::int32_t>(parts_.variables.size());
            auto const& parent = types_[find_type(line[Field::type])].name;
            parts_.variables.push_back({type.name, std::string(line[Field::unit]), place_named(parent)});
        }
        types_.push_back(std::move(type));
    }

    void define_value(PajeLine const& line) {
        Type& type = types_[find_type(line[Field::type])];
        if (type.meaning != Meaning::state) return;
        std::int16_t const kind = line[Field::category] == "none" ? no_kind : kind_named(line);
        auto const name = line[Field::name];
        type.kinds.insert_or_assign(std::string(line.has(Field::alias) ? line[Field::alias] : name), kind);
        type.kinds.try_emplace(std::string(name), kind);
    }

    // Values of one name are one kind, even if their types differ.
    std::int16_t kind_named(PajeLine const& line) {
        auto const name = line[Field::name];
        auto const [at, fresh] = kinds_by_name_.try_emplace(std::string(name), no_kind);
        if (!fresh) return at->second;
        at->second = add_kind(std::string(name));
        StateKind& kind = parts_.kinds.back();
        if (auto const color = parse_color(line[Field::color])) kind.color = *color;
        for (auto const category :
             {Category::work, Category::communication, Category::overhead, Category::idle})
            if (line[Field::category] == to_string(category)) kind.category = category;
        return at->second;
    }

    std::int16_t add_kind(std::string const& name) {
        std::size_t const count = parts_.kinds.size();
        if (count >= std::numeric_limits<std::int16_t>::max()) lexer_.fail("too many different states");
        Category const category = guess_category(name);
        parts_.kinds.push_back(
            {name, category, category == Category::idle ? idle_color : distinct_color(count)});
        return static_cast<std::int16_t>(count);
    }

    void create_container(PajeLine const& line) {
        auto const type = find_type(line[Field::type]);
        auto const parent_name = line[Field::container];
        std::int32_t const parent =
            parent_name == "0" || parent_name.empty() ? -1 : find_container(parent_name);
        enter(containers_by_name_, line, static_cast<std::int32_t>(lanes_.size()));
        lanes_.emplace_back();
        destroyed_.push_back(false);
        parts_.containers.push_back({std::string(line[Field::name]), Place::thread, parent});
        type_names_.push_back(types_[type].name);
    }

    void destroy_container(PajeLine const& line) {
        auto const name = line.has(Field::name) ? line[Field::name] : line[Field::container];
        auto const container = find_container(name);
        lanes_[container].close(now_, parts_.states);
        destroyed_[container] = true;
    }

    void change_state(PajeLine const& line) {
        auto const type_index = find_type(line[Field::type]);
        Type& type = types_[type_index];
        auto const container = find_container(line[Field::container]);
        if (type.meaning != Meaning::state) return;
        StateLane& lane = lanes_[container];
        if (!lane.keeps(type_index)) return;
        auto& states = parts_.states;
        if (line.event == PajeEvent::pop_state) {
            if (!lane.pop(now_, states)) lexer_.fail("the stack of states is empty");
        } else if (line.event == PajeEvent::push_state)
            lane.push(described(line, type, container), now_, states);
        else {
            lane.close(now_, states);
            if (line.event == PajeEvent::set_state) lane.push(described(line, type, container), now_, states);
        }
    }

    State described(PajeLine const& line, Type& type, std::int32_t container) {
        auto const value = line[Field::value];
        auto found = type.kinds.find(value);
        if (found == type.kinds.end()) {
            auto const [at, fresh] = kinds_by_name_.try_emplace(std::string(value), no_kind);
            if (fresh) at->second = add_kind(at->first);
            found = type.kinds.emplace(std::string(value), at->second).first;
        }
        State state;
        state.container = container;
        state.kind = found->second;
        if (line.has(Field::task)) state.task = lexer_.integer(line[Field::task], "task");
        if (line.has(Field::cblk)) state.cblk = lexer_.integer(line[Field::cblk], "cblk");
        if (line.has(Field::continued)) state.continued = line[Field::continued] != "0";
        if (line.has(Field::level)) {
            auto const level = lexer_.integer(line[Field::level], "level");
            if (level < -1 || level > std::numeric_limits<std::int16_t>::max())
                lexer_.fail(fmt::format("level {} is out of range", level));
            state.level = static_cast<std::int16_t>(level);
        }
        return state;
    }

    void change_variable(PajeLine const& line) {
        Type const& type = types_[find_type(line[Field::type])];
        auto const container = find_container(line[Field::container]);
        if (type.meaning != Meaning::variable) return;
        double const value = lexer_.real(line[Field::value], "value of a variable");
        double& now = values_[std::int64_t(container) << 32 | type.variable];
        now = line.event == PajeEvent::add_variable   ? now + value
              : line.event == PajeEvent::sub_variable ? now - value
                                                      : value;
        parts_.samples.push_back({now_, now, container, type.variable});
    }

    // The two ends may come in either order. Ends with one key are joined in the order of the file.
    void half_link(PajeLine const& line) {
        auto const type = find_type(line[Field::type]);
        bool const starts = line.event == PajeEvent::start_link;
        auto const container = find_container(line[starts ? Field::start_container : Field::end_container]);
        auto const at = pending_.try_emplace(fmt::format("{} {}", type, line[Field::key])).first;
        auto& halves = at->second;

        HalfLink half;
        bool const joins = !halves.empty() && halves.front().started != starts;
        if (joins) {
            half = halves.front();
            halves.pop_front();
        }
        (starts ? half.link.start : half.link.end) = now_;
        (starts ? half.link.from : half.link.to) = container;
        if (starts) {
            half.started = true;
            if (types_[type].name == "Steal") half.link.kind = LinkKind::steal;
            if (line.has(Field::bytes)) half.link.bytes = lexer_.integer(line[Field::bytes], "bytes");
            if (line.has(Field::tag)) half.link.tag = lexer_.integer(line[Field::tag], "tag");
            if (line.has(Field::distance))
                half.link.distance =
                    static_cast<std::int32_t>(lexer_.integer(line[Field::distance], "distance"));
        }
        if (!joins)
            halves.push_back(half);
        else
            parts_.links.push_back(half.link);
        if (halves.empty()) pending_.erase(at);
    }

    void information(PajeLine const& line) {
        Type const& type = types_[find_type(line[Field::type])];
        auto const value = line[Field::value];
        if (type.meaning == Meaning::dependency) return dependencies(value);
        auto const equals = value.find(" = ");
        if (type.meaning != Meaning::information || equals == value.npos) return;
        auto const key = value.substr(0, equals);
        auto const text = value.substr(equals + 3);
        std::pair<std::string_view, std::int64_t*> const counts[] = {
            {"dropped events", &parts_.dropped_events},
            {"unmatched messages", &parts_.unmatched_messages},
            {"early messages", &parts_.early_messages},
            {"earliest by nanoseconds", &parts_.earliest_by}};
        for (auto const& [name, count] : counts)
            if (key == name) {
                *count = lexer_.integer(text, std::string(name).c_str());
                return;
            }
        if (key != "time unit") parts_.metadata.insert_or_assign(std::string(key), std::string(text));
    }

    // "task before before ...; task before ..."
    void dependencies(std::string_view text) {
        Dependency dependency;
        bool first = true;
        while (!text.empty()) {
            auto const stop = std::min(text.find_first_of(" ;"), text.size());
            auto const number = lexer_.integer(text.substr(0, stop), "dependency");
            if (first)
                dependency.after = number;
            else {
                dependency.before = number;
                parts_.dependencies.push_back(dependency);
            }
            first = stop < text.size() && text[stop] == ';';
            text.remove_prefix(std::min(text.size(), stop + (first ? 2 : 1)));
        }
    }

    std::string path_;
    PajeLexer lexer_;
    Nanoseconds now_ = 0;
    TraceParts parts_; ///< The containers of the file, until place_containers() changes them.
    std::vector<Type> types_;
    std::vector<std::string> type_names_; ///< By container.
    std::vector<StateLane> lanes_;        ///< By container.
    std::vector<bool> destroyed_;         ///< By container.
    Names<std::int32_t> types_by_name_;
    Names<std::int32_t> containers_by_name_;
    Names<std::int16_t> kinds_by_name_;
    std::unordered_map<std::int64_t, double> values_;
    std::unordered_map<std::string, std::list<HalfLink>> pending_;
};

} // namespace

Trace read_paje(std::string const& path) {
    return Reader(path).read();
}

} // namespace espalier::trace
