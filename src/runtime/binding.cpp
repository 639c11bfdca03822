// Thread affinity by Linux calls. Masks grow until the kernel accepts them: a cpu_set_t has 1024 bits.
#include "runtime/binding.hpp"

#include <new>

#include <pthread.h>
#include <sched.h>

namespace espalier {

namespace {

using Mask = std::vector<unsigned long>;
constexpr std::size_t bits_per_word = 8 * sizeof(unsigned long);

cpu_set_t* as_set(Mask& mask) {
    return reinterpret_cast<cpu_set_t*>(mask.data());
}

bool set_affinity(Mask& mask) {
    return pthread_setaffinity_np(pthread_self(), mask.size() * sizeof(unsigned long), as_set(mask)) == 0;
}

} // namespace

std::vector<unsigned long> current_affinity() {
    for (std::size_t words = 16; words <= 4096; words *= 2) {
        Mask mask(words, 0);
        if (pthread_getaffinity_np(pthread_self(), words * sizeof(unsigned long), as_set(mask)) == 0)
            return mask;
    }
    return {};
}

std::vector<WorkerPlace> place_workers(Topology const& topology, int workers, bool bind) {
    bool const binds = bind && workers > 1 && workers <= topology.num_cores() && topology.is_this_machine() &&
                       !topology.crowded();
    std::vector<WorkerPlace> places;
    for (int worker = 0; worker < workers; ++worker) {
        WorkerPlace place;
        place.core = worker % topology.num_cores();
        Topology::Core const& core = topology.cores()[place.core];
        place.node = core.node;
        place.node_os_index = topology.nodes()[core.node].os_index;
        if (binds) place.pu = core.pu;
        places.push_back(place);
    }
    return places;
}

bool bind_this_thread(int pu) noexcept {
    if (pu < 0) return false;
    try {
        Mask mask(pu / bits_per_word + 1, 0);
        mask[pu / bits_per_word] = 1UL << pu % bits_per_word;
        return set_affinity(mask);
    } catch (std::bad_alloc const&) {
        return false;
    }
}

AffinityScope::AffinityScope(int pu) {
    if (pu < 0) return;
    before_ = current_affinity();
    if (before_.empty() || !bind_this_thread(pu)) before_.clear();
}

AffinityScope::~AffinityScope() {
    if (!before_.empty()) set_affinity(before_);
}

std::vector<WorkerId> workers_at_data(std::vector<WorkerId> const& owners, std::vector<int> const& nodes,
                                      std::vector<WorkerPlace> const& places) {
    std::vector<std::vector<WorkerId>> workers_on; // by node
    for (WorkerId w = 0; w < std::ssize(places); ++w) {
        if (std::ssize(workers_on) <= places[w].node) workers_on.resize(places[w].node + 1);
        workers_on[places[w].node].push_back(w);
    }
    std::vector<std::size_t> turn(workers_on.size(), 0);
    std::vector<WorkerId> result = owners;
    for (std::size_t k = 0; k < result.size(); ++k) {
        int const node = nodes[k];
        if (result[k] == any_worker || node < 0 || node == places[result[k]].node) continue;
        if (node >= std::ssize(workers_on) || workers_on[node].empty()) continue;
        result[k] = workers_on[node][turn[node]++ % workers_on[node].size()];
    }
    return result;
}

} // namespace espalier
