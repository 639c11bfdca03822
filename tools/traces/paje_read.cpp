#include "tools/traces/paje_read.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "espalier/types.hpp"
#include "tools/traces/paje_lane.hpp"
#include "tools/traces/paje_lexer.hpp"
#include "trace/kinds.hpp"

namespace espalier::trace {
namespace {

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

constexpr std::array<std::string_view, 4> place_names{"Machine", "Process", "Node", "Thread"};

// Whether the file has the tree of write_paje(), with states, links and samples in the containers that may
// have them.
bool keep_places(TraceParts& parts, std::vector<std::string> const& types) {
    auto& containers = parts.containers;
    auto const place_of = [&](std::int32_t container) { return containers[container].place; };
    for (std::size_t i = 0; i < containers.size(); ++i) {
        auto const at = std::find(place_names.begin(), place_names.end(), types[i]) - place_names.begin();
        std::int32_t const parent = containers[i].parent;
        if (at == std::ssize(place_names) || (at == 0) != (parent < 0)) return false;
        if (at > 0 && int(place_of(parent)) != at - 1) return false;
        containers[i].place = static_cast<Place>(at);
    }
    for (auto const& state : parts.states)
        if (auto const place = place_of(state.container); place != Place::thread && place != Place::process)
            return false;
    for (auto const& link : parts.links)
        if (place_of(link.from) != Place::thread || place_of(link.to) != Place::thread) return false;
    return std::all_of(parts.samples.begin(), parts.samples.end(), [&](Sample const& sample) {
        return place_of(sample.container) == parts.variables[sample.variable].place;
    });
}

// Otherwise each container with states or links becomes a thread of one process. The other containers and
// their variables are dropped.
void make_threads(TraceParts& parts) {
    constexpr std::int32_t node = 2;
    std::vector<std::int32_t> thread(parts.containers.size(), -1);
    for (auto const& state : parts.states) thread[state.container] = 0;
    for (auto const& link : parts.links) thread[link.from] = thread[link.to] = 0;

    std::vector<Container> placed{
        {"machine", Place::machine, -1}, {"P0", Place::process, 0}, {"N0", Place::node, 1}};
    for (std::size_t i = 0; i < thread.size(); ++i) {
        if (thread[i] < 0) continue;
        thread[i] = static_cast<std::int32_t>(placed.size());
        placed.push_back({parts.containers[i].name, Place::thread, node});
    }
    parts.containers = std::move(placed);
    for (auto& state : parts.states) state.container = thread[state.container];
    for (auto& link : parts.links) link.from = thread[link.from], link.to = thread[link.to];
    std::erase_if(parts.samples, [&](Sample const& s) { return thread[s.container] < 0; });
    for (auto& sample : parts.samples) sample.container = thread[sample.container];
    for (auto& variable : parts.variables) variable.place = Place::thread;
}

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
            if (line.has("Time")) advance(line["Time"]);
            handle(line);
        }
        if (events == 0) lexer_.fail("the file has no events, so it is not a Paje trace");
        for (StateLane& lane : lanes_) lane.close(now_, parts_.states);
        for (auto const& [key, halves] : pending_) parts_.unmatched_messages += std::ssize(halves);
        if (!keep_places(parts_, type_names_)) make_threads(parts_);
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
        PajeEvent const event = line.event;
        auto const name = line["Name"];
        if (event == "PajeDefineContainerType") define_type(line, Meaning::container);
        if (event == "PajeDefineStateType")
            define_type(line, name == "Level" ? Meaning::nothing : Meaning::state);
        if (event == "PajeDefineVariableType") define_type(line, Meaning::variable);
        if (event == "PajeDefineLinkType") define_type(line, Meaning::link);
        if (event == "PajeDefineEventType")
            define_type(line, name == "Info"    ? Meaning::information
                              : name == "After" ? Meaning::dependency
                                                : Meaning::nothing);
        if (event == "PajeDefineEntityValue") define_value(line);
        if (event == "PajeCreateContainer") create_container(line);
        if (event == "PajeDestroyContainer") destroy_container(line);
        if (event == "PajeSetState" || event == "PajePushState" || event == "PajePopState" ||
            event == "PajeResetState")
            change_state(line);
        if (event == "PajeSetVariable" || event == "PajeAddVariable" || event == "PajeSubVariable")
            change_variable(line);
        if (event == "PajeStartLink" || event == "PajeEndLink") half_link(line);
        if (event == "PajeNewEvent") information(line);
    }

    // Later lines may use the alias, or the name if it is not the alias of another definition.
    template <class Map> void enter(Map& map, PajeLine const& line, std::int32_t index) {
        auto const name = line["Name"];
        auto const alias = line.has("Alias") ? line["Alias"] : name;
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
        if (meaning != Meaning::link || !line["Type"].empty()) find_type(line["Type"]);
        enter(types_by_name_, line, static_cast<std::int32_t>(types_.size()));
        Type type;
        type.meaning = meaning;
        type.name = line["Name"];
        if (meaning == Meaning::variable) {
            type.variable = static_cast<std::int32_t>(parts_.variables.size());
            auto const& parent = types_[find_type(line["Type"])].name;
            auto const place = std::find(place_names.begin(), place_names.end(), parent);
            parts_.variables.push_back(
                {type.name, std::string(line["Unit"]),
                 place == place_names.end() ? Place::thread : Place(place - place_names.begin())});
        }
        types_.push_back(std::move(type));
    }

    void define_value(PajeLine const& line) {
        Type& type = types_[find_type(line["Type"])];
        if (type.meaning != Meaning::state) return;
        std::int16_t const kind = line["Category"] == "none" ? no_kind : kind_named(line);
        auto const name = line["Name"];
        type.kinds.insert_or_assign(std::string(line.has("Alias") ? line["Alias"] : name), kind);
        type.kinds.try_emplace(std::string(name), kind);
    }

    // Values of one name are one kind, even if their types differ.
    std::int16_t kind_named(PajeLine const& line) {
        auto const name = line["Name"];
        auto const [at, fresh] = kinds_by_name_.try_emplace(std::string(name), no_kind);
        if (!fresh) return at->second;
        at->second = add_kind(std::string(name));
        StateKind& kind = parts_.kinds.back();
        if (auto const color = parse_color(line["Color"])) kind.color = *color;
        for (auto const category :
             {Category::work, Category::communication, Category::overhead, Category::idle})
            if (line["Category"] == to_string(category)) kind.category = category;
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
        auto const type = find_type(line["Type"]);
        auto const parent_name = line["Container"];
        std::int32_t const parent =
            parent_name == "0" || parent_name.empty() ? -1 : find_container(parent_name);
        enter(containers_by_name_, line, static_cast<std::int32_t>(lanes_.size()));
        lanes_.emplace_back();
        destroyed_.push_back(false);
        parts_.containers.push_back({std::string(line["Name"]), Place::thread, parent});
        type_names_.push_back(types_[type].name);
    }

    void destroy_container(PajeLine const& line) {
        auto const name = line.has("Name") ? line["Name"] : line["Container"];
        auto const container = find_container(name);
        lanes_[container].close(now_, parts_.states);
        destroyed_[container] = true;
    }

    void change_state(PajeLine const& line) {
        auto const type_index = find_type(line["Type"]);
        Type& type = types_[type_index];
        auto const container = find_container(line["Container"]);
        if (type.meaning != Meaning::state) return;
        StateLane& lane = lanes_[container];
        if (!lane.keeps(type_index)) return;
        auto& states = parts_.states;
        if (line.event == "PajePopState") {
            if (!lane.pop(now_, states)) lexer_.fail("the stack of states is empty");
        } else if (line.event == "PajePushState")
            lane.push(described(line, type, container), now_, states);
        else {
            lane.close(now_, states);
            if (line.event == "PajeSetState") lane.push(described(line, type, container), now_, states);
        }
    }

    State described(PajeLine const& line, Type& type, std::int32_t container) {
        auto const value = line["Value"];
        auto found = type.kinds.find(value);
        if (found == type.kinds.end()) {
            auto const [at, fresh] = kinds_by_name_.try_emplace(std::string(value), no_kind);
            if (fresh) at->second = add_kind(at->first);
            found = type.kinds.emplace(std::string(value), at->second).first;
        }
        State state;
        state.container = container;
        state.kind = found->second;
        if (line.has("Task")) state.task = lexer_.integer(line["Task"], "task");
        if (line.has("Cblk")) state.cblk = lexer_.integer(line["Cblk"], "cblk");
        if (line.has("Continued")) state.continued = line["Continued"] != "0";
        if (line.has("Level")) {
            auto const level = lexer_.integer(line["Level"], "level");
            if (level < -1 || level > std::numeric_limits<std::int16_t>::max())
                lexer_.fail(fmt::format("level {} is out of range", level));
            state.level = static_cast<std::int16_t>(level);
        }
        return state;
    }

    void change_variable(PajeLine const& line) {
        Type const& type = types_[find_type(line["Type"])];
        auto const container = find_container(line["Container"]);
        if (type.meaning != Meaning::variable) return;
        double const value = lexer_.real(line["Value"], "value of a variable");
        double& now = values_[std::int64_t(container) << 32 | type.variable];
        now = line.event == "PajeAddVariable"   ? now + value
              : line.event == "PajeSubVariable" ? now - value
                                                : value;
        parts_.samples.push_back({now_, now, container, type.variable});
    }

    // The two ends may come in either order. Ends with one key are joined in the order of the file.
    void half_link(PajeLine const& line) {
        auto const type = find_type(line["Type"]);
        bool const starts = line.event == "PajeStartLink";
        auto const container = find_container(starts ? line["StartContainer"] : line["EndContainer"]);
        auto const at = pending_.try_emplace(fmt::format("{} {}", type, line["Key"])).first;
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
            if (line.has("Bytes")) half.link.bytes = lexer_.integer(line["Bytes"], "bytes");
            if (line.has("Tag")) half.link.tag = lexer_.integer(line["Tag"], "tag");
            if (line.has("Distance"))
                half.link.distance = static_cast<std::int32_t>(lexer_.integer(line["Distance"], "distance"));
        }
        if (!joins)
            halves.push_back(half);
        else
            parts_.links.push_back(half.link);
        if (halves.empty()) pending_.erase(at);
    }

    void information(PajeLine const& line) {
        Type const& type = types_[find_type(line["Type"])];
        auto const value = line["Value"];
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
    TraceParts parts_; ///< The containers of the file, until they get their places at its end.
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
