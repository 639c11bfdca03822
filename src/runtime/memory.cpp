// Arenas by mmap; NUMA policy and page questions by the numaif system calls. Linux: mmap(2), madvise(2),
// mbind(2), move_pages(2).
#include "runtime/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

namespace espalier {

namespace {

/// Smaller arenas live on small pages: a huge page would waste more than its faults cost.
constexpr std::size_t huge_page_threshold = Arena::alignment / 2;
/// Above this size the system is asked whether it has the memory at all.
constexpr std::size_t checked_size = std::size_t{64} << 20;
constexpr std::size_t pages_per_call = 4096;
constexpr std::size_t max_pages_asked = std::size_t{1} << 18;

std::size_t page_size() {
    static auto const size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

std::uintptr_t address_of(void const* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

[[noreturn]] void fail_allocation(std::size_t bytes, std::string const& why) {
    throw Error(Status::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes: " + why);
}

/// `bytes` of address space starting at a multiple of Arena::alignment: map more, cut off both ends.
std::byte* map_aligned(std::size_t bytes) {
    std::size_t const total = bytes + Arena::alignment;
    void* const mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) fail_allocation(bytes, std::strerror(errno));
    auto* const start = static_cast<std::byte*>(mapping);
    std::size_t const head = round_up(address_of(start), Arena::alignment) - address_of(start);
    std::size_t const tail = total - head - bytes;
    if (head > 0) munmap(start, head);
    if (tail > 0) munmap(start + head + bytes, tail);
    return start + head;
}

/// A refusal (no NUMA in the kernel, a container's filter) leaves the process's policy: slower, not wrong.
void set_policy(std::byte* data, std::size_t bytes, Allocation allocation) {
    if (allocation == Allocation::global || numa_available() < 0 || numa_num_task_nodes() < 2) return;
    if (allocation == Allocation::local) {
        mbind(data, bytes, MPOL_PREFERRED, nullptr, 0, 0); // no node named: that of the thread that touches
        return;
    }
    bitmask const* const nodes = numa_all_nodes_ptr;
    mbind(data, bytes, MPOL_INTERLEAVE, nodes->maskp, nodes->size + 1, 0);
}

} // namespace

Arena::Arena(std::size_t bytes, Allocation allocation) : size_(bytes) {
    if (bytes == 0) return;
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - 2 * alignment)
        fail_allocation(bytes, "more than the address space holds");
    if (bytes >= checked_size) {
        std::uint64_t const available = available_memory_bytes();
        if (bytes > available) fail_allocation(bytes, "only " + std::to_string(available) + " are available");
    }
    bool const huge = bytes >= huge_page_threshold;
    mapped_ = round_up(bytes, huge ? alignment : page_size());
    data_ = map_aligned(mapped_);
    if (huge) madvise(data_, mapped_, MADV_HUGEPAGE); // without huge pages in the kernel: small ones
    set_policy(data_, mapped_, allocation);
}

Arena::~Arena() {
    release();
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)), fresh_(std::exchange(other.fresh_, true)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    if (this == &other) return *this;
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    mapped_ = std::exchange(other.mapped_, 0);
    fresh_ = std::exchange(other.fresh_, true);
    return *this;
}

void Arena::release() noexcept {
    if (data_) munmap(data_, mapped_);
}

void populate(std::span<std::byte> range) {
    if (range.empty()) return;
    std::uintptr_t const page = page_size();
    std::uintptr_t const first = address_of(range.data()) / page * page;
    std::uintptr_t const end = round_up(address_of(range.data() + range.size()), page);
#ifdef MADV_POPULATE_WRITE
    if (madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE) == 0) return;
#endif
    // Kernels before 5.14: write each page's own byte back, within the range only.
    for (std::uintptr_t at = first; at < end; at += page) {
        auto* const byte = reinterpret_cast<std::byte volatile*>(std::max(at, address_of(range.data())));
        *byte = *byte;
    }
}

PageLocation query_nodes(std::span<std::byte const> range) {
    PageLocation result;
    if (range.empty()) return result;
    std::uintptr_t const begin = address_of(range.data()), end = begin + range.size();
    std::size_t const page = page_size();
    std::uintptr_t const first = begin / page * page;
    std::size_t const pages = (end - first + page - 1) / page;
    std::size_t const stride = (pages + max_pages_asked - 1) / max_pages_asked;

    // Each page asked answers for the bytes of the range up to the next one asked.
    std::vector<void*> addresses;
    std::vector<int> status;
    for (std::size_t p = 0; p < pages; p += pages_per_call * stride) {
        addresses.clear();
        for (std::size_t q = p; q < std::min(pages, p + pages_per_call * stride); q += stride)
            addresses.push_back(reinterpret_cast<void*>(first + q * page));
        status.assign(addresses.size(), -EINVAL);
        if (move_pages(0, addresses.size(), addresses.data(), nullptr, status.data(), 0) != 0)
            status.assign(addresses.size(), -EINVAL);
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            std::uintptr_t const at = address_of(addresses[i]);
            std::uint64_t const bytes = std::min(end, at + stride * page) - std::max(begin, at);
            int const node = status[i];
            if (node >= 0) {
                if (result.node_bytes.size() <= static_cast<std::size_t>(node))
                    result.node_bytes.resize(static_cast<std::size_t>(node) + 1);
                result.node_bytes[static_cast<std::size_t>(node)] += bytes;
            } else if (node == -ENOENT || node == -EFAULT) {
                result.untouched_bytes += bytes; // EFAULT: the shared zero page, or nothing mapped
            } else {
                result.unknown_bytes += bytes;
            }
        }
    }
    return result;
}

std::uint64_t move_to_node(std::span<std::byte> range, int node_os_index) {
    std::size_t const page = page_size();
    std::uintptr_t const begin = address_of(range.data()), end = begin + range.size();
    std::uint64_t moved = 0;
    std::vector<void*> addresses;
    std::vector<int> const nodes(pages_per_call, node_os_index);
    std::vector<int> status;
    for (std::uintptr_t at = round_up(begin, page); at < end;) {
        addresses.clear();
        for (; at < end && addresses.size() < pages_per_call; at += page)
            addresses.push_back(reinterpret_cast<void*>(at));
        status.assign(addresses.size(), -EINVAL);
        if (move_pages(0, addresses.size(), addresses.data(), nodes.data(), status.data(), MPOL_MF_MOVE) < 0)
            continue; // refused as a whole
        for (std::size_t i = 0; i < addresses.size(); ++i)
            if (status[i] == node_os_index)
                moved += std::min<std::uint64_t>(page, end - address_of(addresses[i]));
    }
    return moved;
}

} // namespace espalier
