// Parses /proc/meminfo, /proc/self/status and the cgroup files. A file that cannot be read sets no limit.
#include "runtime/process_limits.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>

#include "runtime/kept_pages.hpp"

namespace espalier {

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data()) return std::nullopt;
    return value;
}

/// The words of the first line of a file.
std::vector<std::string> first_line(std::string const& path) {
    std::ifstream file(path);
    std::string line, word;
    std::getline(file, line);
    std::istringstream stream(line);
    std::vector<std::string> words;
    while (stream >> word) words.push_back(word);
    return words;
}

std::optional<std::uint64_t> read_number(std::string const& path) {
    auto const words = first_line(path);
    return words.empty() ? std::nullopt : parse_number(words.front()); // "max" is not a number: no limit
}

/// The number after `key` in a file of "key number" lines.
std::optional<std::uint64_t> read_key(std::string const& path, std::string_view key) {
    std::ifstream file(path);
    std::string word;
    for (std::string line; std::getline(file, line);) {
        std::istringstream stream(line);
        if (stream >> word && word == key && stream >> word) return parse_number(word);
    }
    return std::nullopt;
}

/// A cgroup of this process: the mount point of its controller, and its path below.
struct Cgroup {
    std::string mount;
    std::string path; ///< "" or "/a/b"
    bool unified = false;
};

std::vector<Cgroup> cgroups_with(std::string const& root, std::string_view controller) {
    std::vector<Cgroup> result;
    std::ifstream file(root + "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) { // id:controller,controller:/path
        auto const first = line.find(':');
        auto const second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        std::string const controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
        std::string path = line.substr(second + 1);
        if (path == "/") path.clear();
        std::string const base = root + "sys/fs/cgroup";
        if (controllers == ",,") {
            result.push_back({base, path, true});
            result.push_back({base + "/unified", path, true});
        } else if (controllers.find(',' + std::string(controller) + ',') != std::string::npos) {
            result.push_back({base + '/' + controllers.substr(1, controllers.size() - 2), path, false});
            result.push_back({base + '/' + std::string(controller), path, false});
        }
    }
    return result;
}

/// Calls visit(directory, unified) for a cgroup and each of its ancestors. Inside a container the path may
/// be the host's while the mount shows the container's own group as its root; the walk ends there.
template <class Visit>
void for_each_level(std::string const& root, std::string_view controller, Visit visit) {
    for (Cgroup const& group : cgroups_with(root, controller))
        for (std::string path = group.path;; path.erase(path.rfind('/'))) {
            visit(group.mount + path, group.unified);
            if (path.empty() || path.rfind('/') == std::string::npos) break;
        }
}

std::uint64_t left_by_cgroup(std::string const& directory, bool unified) {
    auto const limit = read_number(directory + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
    auto const used = read_number(directory + (unified ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!limit || !used) return no_limit;
    std::string const stat = directory + "/memory.stat";
    std::string const prefix = unified ? "" : "total_";
    std::uint64_t const cache = read_key(stat, prefix + "inactive_file").value_or(0) +
                                read_key(stat, prefix + "active_file").value_or(0);
    std::uint64_t const held = *used - std::min(*used, cache);
    return *limit - std::min(*limit, held);
}

} // namespace

// getrusage() takes less than a microsecond, but its maximum includes the program that this process ran
// before exec(). Once the own maximum is as large, the two are the same.
std::uint64_t peak_rss_bytes() {
    static std::atomic<bool> is_own{false};
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto const largest = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    if (is_own.load(std::memory_order_relaxed)) return largest;
    auto const kib = read_key("/proc/self/status", "VmHWM:");
    if (!kib) return largest;
    if (*kib * 1024 >= largest) is_own.store(true, std::memory_order_relaxed);
    return *kib * 1024;
}

std::uint64_t current_rss_bytes() {
    auto const kib = read_key("/proc/self/status", "VmRSS:");
    return kib ? *kib * 1024 : 0;
}

ResidentMemory recent_resident_memory() {
    using Clock = std::chrono::steady_clock;
    static std::mutex mutex;
    static ResidentMemory memory;
    static Clock::time_point read;
    std::lock_guard const lock(mutex);
    auto const now = Clock::now();
    if (read == Clock::time_point() || now - read > std::chrono::milliseconds(10)) {
        std::uint64_t const current = current_rss_bytes();
        memory = {std::max(peak_rss_bytes(), current), current};
        read = now;
    }
    return memory;
}

void return_free_memory() {
    release_kept_pages();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

std::uint64_t available_memory_bytes(std::string const& root) {
    auto const kib = read_key(root + "proc/meminfo", "MemAvailable:");
    std::uint64_t available = kib ? *kib * 1024 : no_limit;
    for_each_level(root, "memory", [&](std::string const& directory, bool unified) {
        available = std::min(available, left_by_cgroup(directory, unified));
    });
    return available;
}

double cpu_quota(std::string const& root) {
    double cpus = std::numeric_limits<double>::infinity();
    for_each_level(root, "cpu", [&](std::string const& directory, bool unified) {
        std::optional<std::uint64_t> quota, period;
        if (unified) { // "max 100000" or "150000 100000"
            auto const words = first_line(directory + "/cpu.max");
            if (words.size() == 2) quota = parse_number(words[0]), period = parse_number(words[1]);
        } else { // -1 is not a number here: no quota
            quota = read_number(directory + "/cpu.cfs_quota_us");
            period = read_number(directory + "/cpu.cfs_period_us");
        }
        if (quota && period && *quota > 0 && *period > 0)
            cpus = std::min(cpus, static_cast<double>(*quota) / static_cast<double>(*period));
    });
    return cpus;
}

} // namespace espalier
