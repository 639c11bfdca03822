// Parses the synthetic description of a topology, and formats the lines that describe a topology.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/counted.hpp"
#include "core/one_line.hpp"
#include "espalier/types.hpp"
#include "runtime/topology.hpp"

namespace espalier {

namespace {

// hwloc compares every object with its siblings. These limits keep the time below some ten seconds. Tables of
// NUMA nodes are quadratic.
constexpr std::int64_t max_hardware_threads = 16384, max_beside = 2048, max_numa_nodes = 1024;

/// Items between blanks or commas; those inside (...) and [...] belong to the item.
std::vector<std::string> split_items(std::string_view text) {
    std::vector<std::string> items;
    std::string item;
    int depth = 0;
    for (char const c : text) {
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        bool const separates = depth <= 0 && (c == ',' || std::isspace(static_cast<unsigned char>(c)));
        if (!separates)
            item += c;
        else if (!item.empty())
            items.push_back(std::exchange(item, {}));
    }
    if (!item.empty()) items.push_back(std::move(item));
    return items;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::string canonical_type(std::string const& name) {
    if (name == "socket" || name == "sockets" || name == "packages") return "package";
    bool const abbreviated = name.size() >= 2 && std::string_view("numanode").starts_with(name);
    if (name == "node" || name == "nodes" || abbreviated) return "numa";
    if (name == "cores") return "core";
    if (name == "thread" || name == "threads" || name == "pus") return "pu";
    return name;
}

[[noreturn]] void reject(std::string_view description, std::string const& why) {
    throw Error(Status::usage, in_one_line(fmt::format("topology \"{}\": {}", description, why)));
}

[[noreturn]] void reject_size(std::string_view description, std::int64_t most, char const* what) {
    reject(description, fmt::format("more than {} {}", most, what));
}

} // namespace

std::string normalize_synthetic(std::string_view description) {
    std::string result, last_type;
    std::int64_t total = 1, outer = 1; // number of objects of this level, and of the level before it
    std::int64_t nodes = 0;            // number of NUMA nodes, if the description names them
    for (std::string const& item : split_items(description)) {
        if (!result.empty()) result += ' ';
        if (item.front() == '[') { // memory that is attached to the level before; it is not a level itself
            result += item;
            nodes += total;
            if (nodes > max_numa_nodes) reject_size(description, max_numa_nodes, "NUMA nodes");
            continue;
        }
        std::size_t const colon = item.find(':');
        std::string const type =
            colon == std::string::npos ? "" : canonical_type(lower(item.substr(0, colon)));
        std::string const number = colon == std::string::npos ? item : item.substr(colon + 1);
        std::int64_t count = 0;
        auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
        bool const whole = end == number.data() + number.size() || *end == '(';
        if (colon == 0 || error != std::errc{} || !whole || count < 1)
            reject(description, fmt::format("\"{}\" is not TYPE:COUNT with a count of at least 1", item));
        if (count > max_beside && type != "numa")
            reject_size(description, max_beside,
                        "objects of one type in one parent; group them, as in \"numa:16 core:64\"");
        outer = total;
        total *=
            std::min(count, 2 * max_hardware_threads); // avoids overflow; larger numbers are refused below
        if (type == "numa") nodes += total;
        // If the levels have no type, any level except the last may be that of the NUMA nodes.
        if (std::max(nodes, type.empty() ? outer : 0) > max_numa_nodes)
            reject_size(description, max_numa_nodes, "NUMA nodes");
        if (total > max_hardware_threads) reject_size(description, max_hardware_threads, "hardware threads");
        result += type.empty() ? number : type + ':' + number;
        last_type = type;
    }
    if (result.empty()) reject(description, "the description is empty");
    if (!last_type.empty() && last_type != "pu") result += " pu:1";
    return result;
}

std::string format_ranges(std::vector<int> const& numbers) {
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        ranges.push_back(last > i ? fmt::format("{}-{}", numbers[i], numbers[last])
                                  : std::to_string(numbers[i]));
        i = last + 1;
    }
    return fmt::format("{}", fmt::join(ranges, ","));
}

std::string format_bytes(std::uint64_t bytes) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1023.5 && unit + 1 < units.size(); ++unit) value /= 1024;
    bool const integral = value >= 99.95 || value == std::floor(value);
    int const decimals = integral ? 0 : value >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

namespace {

std::string describe_cores(Topology const& machine, int machine_cores) {
    auto const [low, high] = std::ranges::minmax(machine.cores(), {}, &Topology::Core::hardware_threads);
    std::string text = fmt::format("cores       {}", machine.num_cores());
    if (machine.num_cores() < machine_cores)
        text += fmt::format(" of the machine's {} (this process may not use the others)", machine_cores);
    text += fmt::format(", {}", low.hardware_threads);
    if (high.hardware_threads > low.hardware_threads) text += fmt::format(" to {}", high.hardware_threads);
    text += high.hardware_threads == 1 ? " hardware thread each" : " hardware threads each";
    if (machine.default_threads() < machine.num_cores())
        text += "; " + counted(machine.default_threads(), "worker") + " by default";
    return text;
}

std::string describe_caches(std::vector<Topology::Cache> const& caches) {
    std::vector<std::string> texts;
    for (Topology::Cache const& cache : caches)
        texts.push_back(fmt::format("L{} {}{}", cache.level,
                                    cache.bytes ? format_bytes(cache.bytes) : "of unknown size",
                                    cache.cores > 1 ? fmt::format(" for {} cores", cache.cores) : ""));
    return fmt::format("data caches {}", fmt::join(texts, ", "));
}

std::string describe_node(Topology const& machine, int index) {
    Topology::Node const& node = machine.nodes()[index];
    std::vector<int> pus;
    for (int core : node.cores) pus.push_back(machine.cores()[core].pu);
    std::sort(pus.begin(), pus.end());
    return fmt::format("  node {}{}: package {}, cores {} (CPUs {}){}", index,
                       node.os_index != index ? fmt::format(" (the system's {})", node.os_index) : "",
                       node.package, format_ranges(node.cores), format_ranges(pus),
                       node.memory_bytes ? ", " + format_bytes(node.memory_bytes) : "");
}

std::string describe_distances(Topology const& machine, int from) {
    std::string text = fmt::format("  from node {}:", from);
    for (int to = 0; to < machine.num_nodes(); ++to) text += fmt::format(" {:g}", machine.distance(from, to));
    return text;
}

} // namespace

std::vector<std::string> Topology::describe() const {
    std::vector<std::string> lines{
        fmt::format("machine     {}{}", machine_name_.empty() ? "unnamed" : machine_name_,
                    is_this_machine_ ? "" : " (not this machine: workers are not bound)")};
    if (!cpu_model_.empty()) lines.push_back("processor   " + cpu_model_);
    lines.push_back(fmt::format("packages    {}", num_packages_));
    lines.push_back(describe_cores(*this, machine_cores_));
    if (!caches_.empty()) lines.push_back(describe_caches(caches_));
    lines.push_back("memory      " + counted(num_nodes(), "NUMA node"));
    for (int node = 0; node < num_nodes(); ++node) lines.push_back(describe_node(*this, node));
    if (num_nodes() > 1) {
        lines.push_back("distances   relative, 10 is local");
        for (int from = 0; from < num_nodes(); ++from) lines.push_back(describe_distances(*this, from));
    }
    return lines;
}

} // namespace espalier
