// The texts around a topology: the synthetic description that comes in, the lines that go out.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "runtime/topology.hpp"

namespace espalier {

namespace {

// hwloc compares every object with those beside it: these limits keep that below some ten seconds. Tables of
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
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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
    throw Error(Status::usage, "topology \"" + std::string(description) + "\": " + why);
}

[[noreturn]] void reject_size(std::string_view description, std::int64_t most, std::string const& what) {
    reject(description, "more than " + std::to_string(most) + ' ' + what);
}

} // namespace

std::string normalize_synthetic(std::string_view description) {
    std::string result, last_type;
    std::int64_t total = 1, outer = 1; // objects of this level, and of the one before it
    std::int64_t nodes = 0;            // NUMA nodes, where one is told
    for (std::string const& item : split_items(description)) {
        if (!result.empty()) result += ' ';
        if (item.front() == '[') { // memory attached to the level before it: not a level
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
            reject(description, "\"" + item + "\" is not TYPE:COUNT with a count of at least 1");
        if (count > max_beside && type != "numa")
            reject_size(description, max_beside,
                        "of a kind beside each other; group them, as in \"numa:16 core:64\"");
        outer = total;
        total *= std::min(count, 2 * max_hardware_threads); // no more than is refused
        if (type == "numa") nodes += total;
        // Of levels without a type any but the last may be the NUMA nodes.
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
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(numbers[i]);
        if (last > i) text += '-' + std::to_string(numbers[last]);
        i = last + 1;
    }
    return text;
}

std::string format_bytes(std::uint64_t bytes) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1023.5 && unit + 1 < units.size(); ++unit) value /= 1024;
    std::array<char, 32> text{};
    bool const integral = value >= 99.95 || value == std::floor(value);
    std::snprintf(text.data(), text.size(), "%.*f %s",
                  integral         ? 0
                  : value >= 9.995 ? 1
                                   : 2,
                  value, units[unit]);
    return text.data();
}

namespace {

std::string counted(int n, std::string const& noun) {
    return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s");
}

std::string describe_cores(Topology const& machine, int machine_cores) {
    auto const by_threads = [](Topology::Core const& a, Topology::Core const& b) {
        return a.hardware_threads < b.hardware_threads;
    };
    auto const [low, high] = std::minmax_element(machine.cores().begin(), machine.cores().end(), by_threads);
    std::string text = "cores       " + std::to_string(machine.num_cores());
    if (machine.num_cores() < machine_cores)
        text +=
            " of the machine's " + std::to_string(machine_cores) + " (the others are not for this process)";
    text += ", " + std::to_string(low->hardware_threads);
    if (high->hardware_threads > low->hardware_threads)
        text += " to " + std::to_string(high->hardware_threads);
    text += high->hardware_threads == 1 ? " hardware thread each" : " hardware threads each";
    if (machine.default_threads() < machine.num_cores())
        text += "; " + counted(machine.default_threads(), "worker") + " by default";
    return text;
}

std::string describe_caches(std::vector<Topology::Cache> const& caches) {
    std::string text;
    for (Topology::Cache const& cache : caches) {
        if (!text.empty()) text += ", ";
        text += 'L';
        text += std::to_string(cache.level) + ' ';
        text += cache.bytes ? format_bytes(cache.bytes) : "of unknown size";
        if (cache.cores > 1) text += " for " + std::to_string(cache.cores) + " cores";
    }
    return text;
}

std::string describe_node(Topology const& machine, std::size_t index) {
    Topology::Node const& node = machine.nodes()[index];
    std::vector<int> pus;
    for (int core : node.cores) pus.push_back(machine.cores()[core].pu);
    std::sort(pus.begin(), pus.end());
    bool const renumbered = node.os_index != static_cast<int>(index);
    return "  node " + std::to_string(index) +
           (renumbered ? " (the system's " + std::to_string(node.os_index) + ")" : "") + ": package " +
           std::to_string(node.package) + ", cores " + format_ranges(node.cores) + " (CPUs " +
           format_ranges(pus) + ")" + (node.memory_bytes ? ", " + format_bytes(node.memory_bytes) : "");
}

std::string describe_distances(Topology const& machine, int from) {
    std::string text = "  from node " + std::to_string(from) + ":";
    for (int to = 0; to < machine.num_nodes(); ++to) {
        std::array<char, 32> number{};
        std::snprintf(number.data(), number.size(), " %g", machine.distance(from, to));
        text += number.data();
    }
    return text;
}

} // namespace

std::vector<std::string> Topology::describe() const {
    std::vector<std::string> lines;
    lines.push_back("machine     " + (machine_name_.empty() ? std::string("unnamed") : machine_name_) +
                    (is_this_machine_ ? "" : " (not this machine: workers are not bound)"));
    if (!cpu_model_.empty()) lines.push_back("processor   " + cpu_model_);
    lines.push_back("packages    " + std::to_string(num_packages_));
    lines.push_back(describe_cores(*this, machine_cores_));
    if (!caches_.empty()) lines.push_back("data caches " + describe_caches(caches_));
    lines.push_back("memory      " + counted(num_nodes(), "NUMA node"));
    for (std::size_t i = 0; i < nodes_.size(); ++i) lines.push_back(describe_node(*this, i));
    if (num_nodes() > 1) {
        lines.push_back("distances   relative, 10 is local");
        for (int from = 0; from < num_nodes(); ++from) lines.push_back(describe_distances(*this, from));
    }
    return lines;
}

} // namespace espalier
