// Arenas by mmap(2) and madvise(2); NUMA policy and queries by mbind(2) and move_pages(2).
#include "runtime/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/mix_bits.hpp"
#include "runtime/first_touch.hpp"
#include "runtime/kept_pages.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

constexpr std::align_val_t cache_line{64};
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
    throw Error(Status::out_of_memory, fmt::format("cannot allocate {} bytes: {}", bytes, why));
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

/// If the system refuses (no NUMA in the kernel, a filter of the container), the policy of the process
/// remains: slower but correct.
void set_policy(std::byte* data, std::size_t bytes, Allocation allocation) {
    if (allocation == Allocation::global || numa_available() < 0 || numa_num_task_nodes() < 2) return;
    if (allocation == Allocation::local) {
        mbind(data, bytes, MPOL_PREFERRED, nullptr, 0, 0); // no node: that of the thread that touches first
        return;
    }
    bitmask const* const nodes = numa_all_nodes_ptr;
    mbind(data, bytes, MPOL_INTERLEAVE, nodes->maskp, nodes->size + 1, 0);
}

/// The node is preferred, not required: a strict binding would end the process if the node is full.
void prefer_node(std::byte* data, std::size_t bytes, int node_os_index) {
    if (bytes == 0 || node_os_index < 0 || numa_available() < 0) return;
    constexpr std::size_t word_bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> mask(node_os_index / word_bits + 1, 0);
    mask[node_os_index / word_bits] = 1UL << node_os_index % word_bits;
    mbind(data, bytes, MPOL_PREFERRED, mask.data(), mask.size() * word_bits + 1, 0);
}

std::span<std::byte> kept_pages_for(std::size_t bytes) {
    if (bytes > most_kept_bytes) return {};
    return take_kept_pages(round_up(bytes, Arena::alignment));
}

} // namespace

void Arena::map(std::size_t bytes) {
    size_ = bytes;
    if (bytes == 0) return;
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - 2 * alignment)
        fail_allocation(bytes, "more than the address space holds");
    if (bytes >= checked_bytes) {
        std::uint64_t available = available_memory_bytes();
        if (bytes > available) {
            release_kept_pages();
            available = available_memory_bytes();
        }
        if (bytes > available) fail_allocation(bytes, fmt::format("only {} are available", available));
    }
    mapped_ = round_up(bytes, page_bytes());
    data_ = map_aligned(mapped_);
    if (page_bytes() == alignment)
        madvise(data_, mapped_, MADV_HUGEPAGE); // the kernel uses small pages if it has no huge ones
}

std::size_t Arena::page_bytes() const {
    return size_ >= large_bytes ? alignment : page_size();
}

Arena::Arena(std::size_t bytes, Allocation allocation) : allocation_(allocation) {
    map(bytes);
    if (data_) set_policy(data_, mapped_, allocation);
}

Arena Arena::on_nodes(std::span<NodeRange const> ranges) {
    std::size_t bytes = 0;
    for (NodeRange const& range : ranges) {
        if (range.bytes > std::numeric_limits<std::size_t>::max() - bytes)
            fail_allocation(range.bytes, "more than the address space holds");
        bytes += range.bytes;
    }
    Arena arena;
    arena.map(bytes);
    std::size_t end = 0;
    for (NodeRange const& range : ranges) {
        std::size_t const first = round_up(end, page_size());
        end += range.bytes;
        std::size_t const last = end == bytes ? arena.mapped_ : round_up(end, page_size());
        if (range.bytes > 0 && first < last)
            prefer_node(arena.data_ + first, last - first, range.node_os_index);
    }
    return arena;
}

Arena Arena::of_kept_or_new_pages(std::size_t bytes, Allocation allocation) {
    bool const is_small = bytes < large_bytes;
    if (bytes == 0 || (is_small && !has_one_node())) return Arena(bytes, allocation);
    Arena arena;
    if (is_small) {
        arena.take_from_heap(bytes);
    } else if (auto const pages = kept_pages_for(bytes); !pages.empty()) {
        arena.data_ = pages.data();
        arena.size_ = bytes;
        arena.mapped_ = pages.size();
        arena.fresh_ = false;
    } else {
        arena = Arena(bytes, allocation);
    }
    arena.allocation_ = allocation;
    arena.keeps_pages_ = !is_small;
    return arena;
}

Arena Arena::of_kept_pages(std::size_t bytes, Allocation allocation) {
    Arena arena = of_kept_or_new_pages(bytes, allocation);
    if (arena.fresh() && bytes >= large_bytes && has_one_node())
        touch_first_parts({arena.data_, arena.mapped_});
    return arena;
}

void Arena::take_from_heap(std::size_t bytes) {
    data_ = static_cast<std::byte*>(::operator new(bytes, cache_line, std::nothrow));
    if (!data_) fail_allocation(bytes, std::strerror(ENOMEM));
    size_ = mapped_ = bytes;
    fresh_ = false;
    is_on_heap_ = true;
}

std::byte* Arena::release() {
    size_ = mapped_ = 0;
    return std::exchange(data_, nullptr);
}

Arena::~Arena() {
    if (!data_) return;
    if (is_on_heap_)
        ::operator delete(data_, cache_line);
    else if (keeps_pages_)
        keep_pages({data_, mapped_});
    else
        munmap(data_, mapped_);
}

Arena::Arena(Arena&& other) noexcept {
    swap(other);
}

Arena& Arena::operator=(Arena&& other) noexcept {
    Arena taken(std::move(other));
    swap(taken);
    return *this;
}

void Arena::swap(Arena& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(fresh_, other.fresh_);
    std::swap(keeps_pages_, other.keeps_pages_);
    std::swap(is_on_heap_, other.is_on_heap_);
    std::swap(allocation_, other.allocation_);
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

void prefer_huge_pages(std::span<std::byte> range) {
    std::uintptr_t const first = round_up(address_of(range.data()), Arena::alignment);
    std::uintptr_t const end = address_of(range.data() + range.size()) / Arena::alignment * Arena::alignment;
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE); // advisory
}

void choose_pages(std::span<std::byte> rest, bool huge) {
    if (!rest.empty()) madvise(rest.data(), rest.size(), huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); // advisory
}

PageSample sample_nodes(std::span<std::byte const> range, std::size_t strip_bytes) {
    std::size_t const page = page_size(), strip = round_up(std::max(strip_bytes, page), page);
    PageSample sample{strip, {}};
    if (range.empty()) return sample;
    std::uintptr_t const first = address_of(range.data()) / page * page;
    std::uintptr_t const end = address_of(range.data()) + range.size();
    std::vector<int>& nodes = sample.node;
    nodes.assign((end - first + strip - 1) / strip, -EINVAL);
    std::vector<void*> addresses;
    for (std::size_t s = 0; s < nodes.size(); s += addresses.size()) {
        addresses.clear();
        for (std::size_t t = s; t < nodes.size() && addresses.size() < pages_per_call; ++t) {
            std::uintptr_t const start = first + t * strip;
            std::size_t const pages = (std::min(end - start, strip) + page - 1) / page;
            addresses.push_back(reinterpret_cast<void*>(start + hash_bits(t) % pages * page));
        }
        // A refusal leaves what is there: unknown.
        move_pages(0, addresses.size(), addresses.data(), nullptr, nodes.data() + s, 0);
    }
    // EFAULT: the shared zero page, or nothing mapped.
    for (int& node : nodes)
        if (node < 0) node = node == -ENOENT || node == -EFAULT ? page_untouched : page_unknown;
    return sample;
}

void move_pages_to(std::span<std::byte> range, int node_os_index) {
    if (range.empty() || numa_available() < 0) return;
    std::size_t const page = page_size();
    std::uintptr_t at = address_of(range.data()) / page * page;
    std::uintptr_t const end = address_of(range.data()) + range.size();
    std::vector<int> nodes(pages_per_call, node_os_index), status(pages_per_call);
    std::vector<void*> addresses;
    while (at < end) {
        addresses.clear();
        for (; at < end && addresses.size() < pages_per_call; at += page)
            addresses.push_back(reinterpret_cast<void*>(at));
        move_pages(0, addresses.size(), addresses.data(), nodes.data(), status.data(), MPOL_MF_MOVE);
    }
}

PageLocation query_nodes(std::span<std::byte const> range) {
    PageLocation result;
    if (range.empty()) return result;
    std::size_t const page = page_size();
    std::uintptr_t const begin = address_of(range.data()), end = begin + range.size();
    std::uintptr_t const first = begin / page * page;
    std::size_t const pages = (end - first + page - 1) / page;
    std::size_t const strip = (pages + max_pages_asked - 1) / max_pages_asked * page;
    std::uintptr_t start = first;
    for (int const node : sample_nodes(range, strip).node) {
        std::uint64_t const bytes = std::min(end, start + strip) - std::max(begin, start);
        start += strip;
        if (node == page_untouched) {
            result.untouched_bytes += bytes;
        } else if (node == page_unknown) {
            result.unknown_bytes += bytes;
        } else {
            if (std::ssize(result.node_bytes) <= node) result.node_bytes.resize(node + 1);
            result.node_bytes[node] += bytes;
        }
    }
    return result;
}

} // namespace espalier
