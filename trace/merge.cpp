// Packs the parts of a trace into bytes for another process, and merges the parts of several processes.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "espalier/types.hpp"
#include "trace/trace.hpp"

namespace espalier::trace {
namespace {

template <class Value> void append(std::vector<Value>& to, std::vector<Value> const& from) {
    to.insert(to.end(), from.begin(), from.end());
}

class Packer {
  public:
    template <class Value> void number(Value const& value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        auto const* first = reinterpret_cast<std::byte const*>(&value);
        bytes_.insert(bytes_.end(), first, first + sizeof value);
    }
    template <class Sequence> void sequence(Sequence const& values) {
        static_assert(std::is_trivially_copyable_v<typename Sequence::value_type>);
        number(values.size());
        auto const* first = reinterpret_cast<std::byte const*>(values.data());
        bytes_.insert(bytes_.end(), first, first + values.size() * sizeof *values.data());
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

class Unpacker {
  public:
    explicit Unpacker(std::span<std::byte const> bytes) : bytes_(bytes) {}
    template <class Value> void number(Value& value) {
        std::memcpy(&value, take(1, sizeof value), sizeof value);
    }
    template <class Sequence> void sequence(Sequence& values) {
        std::size_t count = 0;
        number(count);
        auto const* first = take(count, sizeof *values.data());
        values.resize(count);
        if (count > 0) std::memcpy(static_cast<void*>(values.data()), first, count * sizeof *values.data());
    }
    [[nodiscard]] std::size_t left() const { return bytes_.size(); }

  private:
    std::byte const* take(std::size_t count, std::size_t size) {
        if (count > bytes_.size() / size)
            throw Error(Status::bad_input, "trace: the bytes from another process are not a trace");
        auto const* first = bytes_.data();
        bytes_ = bytes_.subspan(count * size);
        return first;
    }
    std::span<std::byte const> bytes_;
};

// Visits the members of the parts, for writing or reading.
template <class Walker, class Parts> void walk(Walker& walker, Parts& parts) {
    auto const each = [&](auto& values, auto const& visit) {
        std::size_t count = values.size();
        walker.number(count);
        if constexpr (!std::is_const_v<Parts>)
            while (values.size() < count) visit(values.emplace_back());
        else
            for (auto& value : values) visit(value);
    };
    each(parts.containers, [&](auto& container) {
        walker.sequence(container.name), walker.number(container.place), walker.number(container.parent);
    });
    each(parts.kinds, [&](auto& kind) {
        walker.sequence(kind.name), walker.number(kind.category), walker.number(kind.color);
    });
    each(parts.variables, [&](auto& variable) {
        walker.sequence(variable.name), walker.sequence(variable.unit), walker.number(variable.place);
    });
    walker.sequence(parts.states);
    walker.sequence(parts.links);
    walker.sequence(parts.message_ends);
    walker.sequence(parts.samples);
    walker.sequence(parts.dependencies);
    walker.number(parts.dropped_events);
    walker.number(parts.unmatched_messages);
    walker.number(parts.early_messages);
    walker.number(parts.earliest_by);
}

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
        append(all.dependencies, more.dependencies);
        all.dropped_events += more.dropped_events;
        all.unmatched_messages += more.unmatched_messages;
        all.early_messages += more.early_messages;
        all.earliest_by = std::max(all.earliest_by, more.earliest_by);
        parts[p] = {};
    }
    return all;
}

std::vector<std::byte> pack(TraceParts const& parts) {
    Packer packer;
    walk(packer, parts);
    packer.number(parts.metadata.size());
    for (auto const& [key, value] : parts.metadata) packer.sequence(key), packer.sequence(value);
    return packer.take();
}

TraceParts unpack(std::span<std::byte const> bytes) {
    Unpacker unpacker(bytes);
    TraceParts parts;
    walk(unpacker, parts);
    std::size_t keys = 0;
    unpacker.number(keys);
    std::string key;
    for (std::size_t i = 0; i < keys; ++i) {
        unpacker.sequence(key);
        unpacker.sequence(parts.metadata[key]);
    }
    if (unpacker.left() > 0)
        throw Error(Status::bad_input, "trace: the bytes from another process are not a trace");
    return parts;
}

} // namespace espalier::trace
