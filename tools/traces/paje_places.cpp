#include "tools/traces/paje_places.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace espalier::trace {
namespace {

constexpr std::array<std::string_view, 4> names{"Machine", "Process", "Node", "Thread"};

// True if the file has the tree of write_paje(), with states, links and samples in the containers that may
// have them.
bool keep_places(TraceParts& parts, std::vector<std::string> const& types) {
    auto& containers = parts.containers;
    auto const place_of = [&](std::int32_t container) { return containers[container].place; };
    for (std::size_t i = 0; i < containers.size(); ++i) {
        auto const at = std::find(names.begin(), names.end(), types[i]) - names.begin();
        std::int32_t const parent = containers[i].parent;
        if (at == std::ssize(names) || (at == 0) != (parent < 0)) return false;
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

} // namespace

Place place_named(std::string const& type) {
    auto const at = std::find(names.begin(), names.end(), type) - names.begin();
    return at == std::ssize(names) ? Place::thread : static_cast<Place>(at);
}

void place_containers(TraceParts& parts, std::vector<std::string> const& types) {
    if (!keep_places(parts, types)) make_threads(parts);
}

} // namespace espalier::trace
