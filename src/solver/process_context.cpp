#include "solver/process_context.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "comm/thread_level.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

// Divides the cores of a machine among the processes that may use them.
Topology own_part(std::string const& name, Communicator const& processes,
                  std::vector<std::int64_t>& machines) {
    std::int64_t machine = 0;
    Topology topology = all_succeed(processes, [&] {
        Topology whole = Topology::named(name);
        // is not negative
        machine = static_cast<std::int64_t>(std::hash<std::string>{}(whole.machine_name()) >> 1);
        return whole;
    });
    machines = all_gather(processes, machine);
    int part = 0, parts = 0;
    for (int r = 0; r < processes.size(); ++r) {
        if (machines[r] != machine) continue;
        part += r < processes.rank();
        ++parts;
    }
    bool const disjoint = topology.num_cores() * parts <= topology.machine_cores();
    bool const is_whole = parts == 1 || disjoint || !topology.is_this_machine();
    return all_succeed(processes,
                       [&] { return is_whole ? std::move(topology) : topology.share(part, parts); });
}

} // namespace

ProcessContext::ProcessContext(std::string const& topology, Communicator comm)
    : messaging_{std::move(comm), {}}, topology_(own_part(topology, this->comm(), computers_)),
      default_threads_(static_cast<int>(min(this->comm(), std::int64_t{topology_.default_threads()}))),
      recording_(this->comm(), topology_.machine_name(), [this] {
          if (team_) team_->record(nullptr);
      }) {}

std::uint64_t ProcessContext::largest_sum_of_a_computer(std::span<std::uint64_t const> of_process) const {
    std::uint64_t largest = 0;
    for (std::size_t first = 0; first < computers_.size(); ++first) {
        if (std::find(computers_.begin(), computers_.begin() + first, computers_[first]) !=
            computers_.begin() + first)
            continue; // was counted with its first process
        std::uint64_t sum = 0;
        for (std::size_t p = first; p < std::min(computers_.size(), of_process.size()); ++p)
            if (computers_[p] == computers_[first]) sum += of_process[p];
        largest = std::max(largest, sum);
    }
    return largest;
}

int ProcessContext::processes_of_a_computer() const {
    std::vector<std::uint64_t> const ones(computers_.size(), 1);
    return static_cast<int>(largest_sum_of_a_computer(ones));
}

void ProcessContext::require_available(std::uint64_t wanted) const {
    constexpr std::uint64_t worth_checking = std::uint64_t{64} << 20; // reading the limits takes 100 us
    auto const bytes = all_gather(comm(), static_cast<std::int64_t>(wanted));
    std::uint64_t together = 0;
    for (std::size_t p = 0; p < computers_.size(); ++p)
        if (computers_[p] == computers_[comm().rank()]) together += static_cast<std::uint64_t>(bytes[p]);
    on_all([&] {
        std::uint64_t const available = together >= worth_checking ? available_memory_bytes() : together;
        if (together > available)
            throw Error(Status::out_of_memory,
                        fmt::format("the {} processes of a computer together need {} more bytes for factors, "
                                    "but {} bytes are "
                                    "available",
                                    std::ranges::count(computers_, computers_[comm().rank()]), together,
                                    available));
    });
}

void ProcessContext::set_topology(std::string const& topology) {
    Topology other = Topology::named(topology);
    team_.reset();
    topology_ = std::move(other);
    default_threads_ = topology_.default_threads();
}

void ProcessContext::set_threads(int threads, bool bind) {
    if (threads != threads_ || bind != bind_threads_) team_.reset();
    threads_ = threads;
    bind_threads_ = bind;
}

WorkerTeam& ProcessContext::workers() {
    if (!team_) team_ = std::make_unique<WorkerTeam>(topology_, threads_, bind_threads_);
    team_->record(recording_.recorder());
    return *team_;
}

std::string ProcessContext::begin_call(Options const& options) {
    recording_.switch_on(options.record_trace);
    if (interrupt_.use_count() == 1) // no job in the background uses it
        interrupt_->restart(options.cancel);
    else
        interrupt_ = std::make_shared<Interrupt>(options.cancel);
    if (is_alone()) return {};
    ThreadsChoice choice = choose_comm_threads(comm(), options.comm_threads);
    messaging_.exchange.threads = choice.threads;
    return std::move(choice.message);
}

Messaging* ProcessContext::messaging() {
    if (is_alone()) return nullptr;
    messaging_.exchange.shares_core = topology_.default_threads() < threads_ + messaging_.exchange.threads;
    recording_.lend_tracks(messaging_.exchange, workers().places().front().node);
    return &messaging_;
}

void ProcessContext::sample_memory() const {
    on_all([&] {
        if (trace::Track* const track = phases())
            track->sample(trace::Counter::memory, static_cast<std::int64_t>(current_rss_bytes()));
    });
}

} // namespace espalier
