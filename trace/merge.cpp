// Packs the parts of a trace into bytes for another process, aligns clocks, and merges the parts of several
// processes.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/pack.hpp"
#include "espalier/types.hpp"
#include "trace/clock_offset.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {

// The members that Packer and Unpacker of core/pack.hpp visit. Other members have trivial types.
template <class Archive> void describe(Archive& archive, Container& container) {
    archive(container.name, container.place, container.parent);
}
template <class Archive> void describe(Archive& archive, StateKind& kind) {
    archive(kind.name, kind.category, kind.color);
}
template <class Archive> void describe(Archive& archive, Variable& variable) {
    archive(variable.name, variable.unit, variable.place);
}
template <class Archive> void describe(Archive& archive, TraceParts& parts) {
    archive(parts.containers, parts.kinds, parts.variables, parts.states, parts.links, parts.message_ends,
            parts.samples, parts.dependencies, parts.dropped_events, parts.unmatched_messages,
            parts.early_messages, parts.earliest_by);
}

namespace {

// Appends containers and returns their new indices. Machines of one name are merged.
std::vector<std::int32_t> append_containers(std::vector<Container>& all, std::vector<Container> const& more) {
    std::vector<std::int32_t> now_at;
    now_at.reserve(more.size());
    for (Container container : more) {
        if (container.place == Place::machine) {
            auto const known = std::find(all.begin(), all.end(), container);
            now_at.push_back(static_cast<std::int32_t>(known - all.begin()));
            if (known == all.end()) all.push_back(std::move(container));
            continue;
        }
        bool const known = container.parent >= 0 && container.parent < std::ssize(now_at);
        container.parent = known ? now_at[container.parent] : -1;
        now_at.push_back(static_cast<std::int32_t>(all.size()));
        all.push_back(std::move(container));
    }
    return now_at;
}

} // namespace

TraceParts merge(std::vector<TraceParts> parts) {
    if (parts.empty()) return {};
    TraceParts all = std::move(parts.front());
    for (std::size_t p = 1; p < parts.size(); ++p) {
        TraceParts const& more = parts[p];
        if (more.kinds != all.kinds || more.variables != all.variables)
            throw Error(Status::usage, "trace: processes recorded different kinds of states or variables");
        std::vector<std::int32_t> const now_at = append_containers(all.containers, more.containers);
        auto const moved = [&](std::int32_t c) { return c >= 0 && c < std::ssize(now_at) ? now_at[c] : -1; };
        for (State state : more.states) state.container = moved(state.container), all.states.push_back(state);
        for (MessageEnd end : more.message_ends)
            end.container = moved(end.container), all.message_ends.push_back(end);
        for (Sample sample : more.samples)
            sample.container = moved(sample.container), all.samples.push_back(sample);
        for (Link link : more.links) {
            link.from = moved(link.from), link.to = moved(link.to);
            all.links.push_back(link);
        }
        all.dependencies.insert(all.dependencies.end(), more.dependencies.begin(), more.dependencies.end());
        all.dropped_events += more.dropped_events;
        all.unmatched_messages += more.unmatched_messages;
        all.early_messages += more.early_messages;
        all.earliest_by = std::max(all.earliest_by, more.earliest_by);
        parts[p] = {};
    }
    return all;
}

void set_clock(TraceParts& parts, ClockOffset const& first, ClockOffset const& last, Nanoseconds zero) {
    auto const drift = last.at > first.at ? static_cast<double>(last.offset - first.offset) /
                                                static_cast<double>(last.at - first.at)
                                          : 0.0;
    for_each_time(parts, [&](Nanoseconds& time) {
        Nanoseconds const since = std::clamp(time, first.at, std::max(first.at, last.at)) - first.at;
        time -= first.offset + std::llround(static_cast<double>(since) * drift) + zero;
    });
}

std::vector<std::byte> pack(TraceParts const& parts) {
    std::vector<std::string> metadata;
    for (auto const& [key, value] : parts.metadata) metadata.insert(metadata.end(), {key, value});
    Packer packer;
    packer(parts, metadata);
    return packer.take();
}

TraceParts unpack(std::span<std::byte const> bytes) {
    TraceParts parts;
    std::vector<std::string> metadata;
    Unpacker unpacker(bytes);
    unpacker(parts, metadata);
    if (!unpacker.at_end())
        throw Error(Status::internal, "trace: the bytes from another process are not a trace");
    for (std::size_t i = 0; i + 1 < metadata.size(); i += 2) parts.metadata[metadata[i]] = metadata[i + 1];
    return parts;
}

} // namespace espalier::trace
