// Nested dissection by METIS 5. METIS uses rand(), so each call resets its sequence for the whole program,
// and only one thread may call it at a time.
//
// METIS_NodeND replaces the process-wide handlers of SIGTERM and SIGABRT by one that jumps to a thread-local
// place: a SIGTERM that another thread receives meanwhile would crash the program. METIS_NodeNDP, the entry
// point for ParMETIS, is the same algorithm without the handlers. METIS reports lack of memory by
// raise(SIGABRT), so this signal is handled here: on the ordering thread it ends the ordering, and on others
// it has the effect that it has without METIS. What METIS has allocated until then is lost.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <limits>
#include <mutex>

#include <unistd.h>

#include <fmt/format.h>
#include <metis.h>

#include "core/error.hpp"
#include "minimum_degree/balance_weights.hpp"
#include "ordering/methods.hpp"

namespace espalier {

namespace {

std::mutex one_at_a_time; // Protects METIS and the following variables.
std::atomic<pid_t> ordering_thread{0};
sigjmp_buf out_of_memory;
struct sigaction previous_action;

void handle_abort(int signal, siginfo_t* info, void* context) {
    if (gettid() == ordering_thread) siglongjmp(out_of_memory, 1);
    if ((previous_action.sa_flags & SA_SIGINFO) != 0)
        return previous_action.sa_sigaction(signal, info, context);
    if (previous_action.sa_handler == SIG_IGN) return;
    if (previous_action.sa_handler != SIG_DFL) return previous_action.sa_handler(signal);
    sigaction(signal, &previous_action, nullptr);
    raise(signal); // pending until this handler returns
}

// Calls order() with handle_abort() installed; false if it ran out of memory.
template <class Order> bool run_unless_out_of_memory(Order const& order) {
    std::lock_guard const lock(one_at_a_time);
    struct sigaction action = {};
    action.sa_sigaction = handle_abort;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, &previous_action);
    bool const has_jumped = sigsetjmp(out_of_memory, 1) != 0;
    if (!has_jumped) {
        ordering_thread = gettid();
        order();
    }
    ordering_thread = 0;
    sigaction(SIGABRT, &previous_action, nullptr);
    return !has_jumped;
}

} // namespace

std::vector<Index> order_by_metis(Graph const& graph) {
    // METIS sums weights in its own integer type.
    constexpr Index weight_limit = std::numeric_limits<idx_t>::max() / 4;
    auto const n = checked_cast<idx_t>(graph.num_vertices, "number of vertices to order with METIS");
    checked_cast<idx_t>(graph.ptr.back(), "number of adjacency entries to order with METIS");
    if (graph.num_vertices > weight_limit)
        throw Error(Status::unsupported,
                    fmt::format("the graph has {} vertices; METIS can order at most {}", n, weight_limit));
    std::vector<idx_t> ptr(graph.ptr.begin(), graph.ptr.end()), adj(graph.adj.begin(), graph.adj.end());
    auto const balanced = balance_weights(graph, weight_limit);
    std::vector<idx_t> weight(balanced.begin(), balanced.end());
    std::vector<idx_t> order(n), position(n);

    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_COMPRESS] = 0; // the graph is compressed already, and METIS would ignore the weights
    idx_t separator_sizes[1];           // remains empty with one process
    int code = METIS_OK;
    bool const is_complete = run_unless_out_of_memory([&] {
        code = METIS_NodeNDP(n, ptr.data(), adj.data(), weight.empty() ? nullptr : weight.data(), 1, options,
                             order.data(), position.data(), separator_sizes);
    });
    if (!is_complete) throw Error(Status::out_of_memory, "METIS ran out of memory while ordering");
    if (code != METIS_OK)
        throw Error(Status::internal, fmt::format("METIS_NodeNDP failed with code {}", code));
    return {position.begin(), position.end()};
}

} // namespace espalier
