// Memory on NUMA nodes in the C interface.
#include <algorithm>
#include <new>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "espalier/espalier.h"
#include "espalier/numa.hpp"

struct espalier_node_memory {
    espalier::NumaMemory memory;
};

namespace {

using namespace espalier;

template <class Body> espalier_status guarded_call(Body const& body) noexcept {
    try {
        body();
        return ESPALIER_OK;
    } catch (Error const& error) {
        return static_cast<espalier_status>(error.status());
    } catch (std::bad_alloc const&) {
        return ESPALIER_OUT_OF_MEMORY;
    } catch (...) {
        return ESPALIER_INTERNAL;
    }
}

void require(bool valid) {
    if (!valid) throw Error(Status::usage, "invalid argument");
}

template <class Byte, class Pointer> std::span<Byte> range_of(Pointer* data, std::uint64_t bytes) {
    require(data || bytes == 0);
    return {static_cast<Byte*>(data), bytes};
}

template <class Make> espalier_status create(espalier_node_memory** memory, Make const& make) noexcept {
    return guarded_call([&] {
        require(memory);
        *memory = nullptr;
        *memory = new espalier_node_memory{make()};
    });
}

} // namespace

espalier_status espalier_memory_nodes(int64_t capacity, int* nodes, int64_t* count) {
    return guarded_call([&] {
        require(count && capacity >= 0 && (nodes || capacity == 0));
        std::vector<int> const all = memory_nodes();
        std::copy_n(all.begin(), std::min<int64_t>(capacity, std::ssize(all)), nodes);
        *count = std::ssize(all);
    });
}

espalier_status espalier_node_memory_create(espalier_node_memory** memory, int64_t count,
                                            espalier_node_range const* ranges) {
    return create(memory, [&] {
        require(count >= 0 && (ranges || count == 0));
        std::vector<NodeRange> parts;
        for (int64_t k = 0; k < count; ++k) parts.push_back({ranges[k].bytes, ranges[k].node});
        return NumaMemory(parts);
    });
}

espalier_status espalier_node_memory_distribute(espalier_node_memory** memory, uint64_t bytes,
                                                uint64_t piece_bytes) {
    return create(memory, [&] { return NumaMemory::distributed(bytes, piece_bytes); });
}

void* espalier_node_memory_data(espalier_node_memory const* memory) {
    return memory ? memory->memory.bytes().data() : nullptr;
}

void espalier_node_memory_destroy(espalier_node_memory** memory) {
    if (!memory) return;
    delete *memory;
    *memory = nullptr;
}

espalier_status espalier_move_to_node(void* data, uint64_t bytes, int node) {
    return guarded_call([&] { move_to_node(range_of<std::byte>(data, bytes), node); });
}

espalier_status espalier_query_nodes(void const* data, uint64_t bytes, int64_t capacity, uint64_t* node_bytes,
                                     uint64_t* untouched, uint64_t* unknown) {
    return guarded_call([&] {
        require(capacity >= 0 && (node_bytes || capacity == 0));
        PageLocation const found = query_nodes(range_of<std::byte const>(data, bytes));
        std::fill_n(node_bytes, capacity, 0);
        std::uint64_t elsewhere = found.unknown_bytes;
        for (std::int64_t node = 0; node < std::ssize(found.node_bytes); ++node)
            if (node < capacity)
                node_bytes[node] = found.node_bytes[node];
            else
                elsewhere += found.node_bytes[node];
        if (untouched) *untouched = found.untouched_bytes;
        if (unknown) *unknown = elsewhere;
    });
}
