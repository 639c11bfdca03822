#include "solver/ensemble.hpp"

#include <algorithm>
#include <utility>

#include "comm/thread_level.hpp"
#include "core/pack.hpp"
#include "runtime/process_limits.hpp"
#include "solver/ensemble_order.hpp"
#include "solver/pack_plan.hpp"
#include "solver/report_table.hpp"

namespace espalier {

namespace {

// CallSettings on their way.
struct SettingsMessage {
    char call[32] = {}; // names are shorter
    int threads = 1;
    int comm_threads = 1;
    bool bind_threads = true;
    bool record_trace = false;
};

} // namespace

template <class T> Ensemble<T>::Ensemble(Communicator comm, bool follows, RunRecorder& recording)
    : comm_(std::move(comm)), recording_(recording) {
    messaging_.comm = comm_;
    some_follow_ = max(comm_, std::int64_t{follows}) > 0;
}

template <class T> Ensemble<T>::~Ensemble() {
    if (is_alone() || !leads() || !some_follow_) return;
    try {
        CallSettings none;
        agree_on_call(none);
    } catch (...) { // nobody is left to be told
    }
}

template <class T>
std::string Ensemble<T>::work_with(std::function<WorkerTeam&()> workers, Topology const& topology,
                                   std::shared_ptr<Interrupt> interrupt, int comm_threads) {
    workers_ = std::move(workers);
    topology_ = &topology;
    interrupt_ = std::move(interrupt);
    if (is_alone()) return {};
    ThreadsChoice choice = choose_comm_threads(comm_, comm_threads);
    messaging_.exchange.threads = choice.threads;
    return std::move(choice.message);
}

// The leader's.
template <class T> void Ensemble<T>::share(CallSettings& settings) {
    SettingsMessage message{
        {}, settings.threads, settings.comm_threads, settings.bind_threads, settings.record_trace};
    settings.call.copy(message.call, sizeof message.call - 1);
    broadcast_value(comm_, message, leader);
    settings = {message.call, message.threads, message.bind_threads, message.comm_threads,
                message.record_trace};
}

template <class T> void Ensemble<T>::agree_on_call(CallSettings& settings) {
    if (is_alone()) return;
    std::string const mine = call_ = settings.call;
    share(settings);
    std::optional<Error> other;
    if (settings.call != mine)
        other.emplace(Status::usage,
                      settings.call.empty()
                          ? mine + " was called while process 0 has no solver any more"
                          : mine + " of a solver was called while process 0 calls " + settings.call);
    agree(comm_, other).raise();
}

template <class T> CallSettings Ensemble<T>::next_call() {
    CallSettings settings;
    share(settings);
    agree(comm_, std::nullopt).raise();
    call_ = settings.call;
    return settings;
}

template <class T>
void Ensemble<T>::end(std::optional<Error> const& error, Report& report, std::vector<std::byte> result) {
    if (is_alone()) return;
    std::vector<std::byte> bytes;
    std::optional<Error> const lost = error_of([&] {
        Packer packer;
        packer(report, std::string(error ? error->what() : ""), result);
        bytes = packer.take();
    });
    Order order;
    order.kind = OrderKind::end;
    order.failed = error || lost;
    order.status = error ? error->status() : lost ? lost->status() : Status::ok;
    order.bytes = bytes.size();
    give(order);
    report.peak_memory_of_process = deliver(bytes, order.bytes);
    if (lost) throw *lost;
}

// The leader's words to all, so many bytes; returns the peak memory of all, in one round with whether there
// is room for them everywhere.
template <class T>
std::vector<double> Ensemble<T>::deliver(std::vector<std::byte>& ending, std::uint64_t bytes) {
    constexpr std::int64_t no_room = -1;
    bool const fits = !error_of([&] { ending.resize(bytes); });
    std::vector<std::int64_t> const peaks =
        all_gather(comm_, fits ? static_cast<std::int64_t>(peak_rss_bytes()) : no_room);
    if (std::count(peaks.begin(), peaks.end(), no_room) > 0)
        throw Error(Status::out_of_memory, "no memory for the report of process 0");
    broadcast(comm_, std::span<std::byte>(ending), leader);
    return {peaks.begin(), peaks.end()};
}

template <class T> std::vector<std::byte> Ensemble<T>::serve(Report& report) {
    for (;;) {
        Order const order = next_order();
        if (order.kind == OrderKind::end) {
            std::vector<std::byte> bytes, result;
            std::vector<double> peaks = deliver(bytes, order.bytes);
            if (bytes.empty()) throw Error(order.status, "process 0 could not tell how its call ended");
            std::string text;
            Unpacker unpacker(bytes);
            unpacker(report, text, result);
            report.peak_memory_of_process = std::move(peaks);
            if (order.failed) throw Error(order.status, text);
            return result;
        }
        try {
            obey(order);
        } catch (Error const&) { // the leader has it, too, and decides
        }
    }
}

template <class T> typename Ensemble<T>::Order Ensemble<T>::next_order() {
    Order order;
    broadcast_value(comm_, order, leader);
    return order;
}

template <class T> void Ensemble<T>::give(Order order) {
    broadcast_value(comm_, order, leader);
}

template <class T> void Ensemble<T>::obey(Order const& order) {
    switch (order.kind) {
    case OrderKind::plan:
        return take_plan();
    case OrderKind::assembly:
        return take_assembly({});
    case OrderKind::factorize: {
        FactorizeOptions options;
        options.pivot_threshold = order.pivot_threshold;
        options.interrupt = interrupt_.get();
        options.phases = recording_.phases();
        if (order.is_narrow)
            (void)run_factorize<Low>(order, {}, options);
        else
            (void)run_factorize<T>(order, {}, options);
        return;
    }
    case OrderKind::restart_recording:
        return recording_.restart();
    case OrderKind::trace:
        (void)recording_.collect();
        return;
    case OrderKind::sweep: {
        auto const phase = phase_of_call();
        trace::Scope const recorded(phase ? recording_.phases() : nullptr,
                                    phase.value_or(trace::Kind::solve));
        if (order.is_narrow) return run_sweep<Low>(order, {});
        return run_sweep<T>(order, {});
    }
    case OrderKind::pivots:
        if (order.is_narrow)
            (void)run_pivots<Low>();
        else
            (void)run_pivots<T>();
        return;
    case OrderKind::end:
        return;
    }
}

template <class T> void Ensemble<T>::restart_recording() {
    if (!is_alone()) {
        Order order;
        order.kind = OrderKind::restart_recording;
        give(order);
    }
    recording_.restart();
}

template <class T> trace::TraceParts Ensemble<T>::collect_trace() {
    if (!is_alone()) {
        Order order;
        order.kind = OrderKind::trace;
        give(order);
    }
    return recording_.collect();
}

// To the progress threads of the next run.
template <class T> void Ensemble<T>::lend_tracks() {
    if (!is_alone()) recording_.lend_tracks(messaging_.exchange, workers().places().front().node);
}

// What sweeps belong to, on processes that do not lead.
template <class T> std::optional<trace::Kind> Ensemble<T>::phase_of_call() const {
    if (call_ == "refine") return trace::Kind::refinement;
    if (call_ == "solve" || call_ == "solve_in_place") return trace::Kind::solve;
    return std::nullopt;
}

template <class T> void Ensemble<T>::drop_factors() {
    assembly_.reset();
    full_.reset();
    narrow_.reset();
}

template <class T> void Ensemble<T>::share_plan(BlockStructure const& structure, FactorPlan const& plan,
                                                std::vector<LocalPlan> const& plans_of_others) {
    structure_ = &structure;
    plan_ = &plan;
    drop_factors();
    if (is_alone()) return;
    give({.kind = OrderKind::plan});
    std::vector<std::byte> common;
    std::vector<std::vector<std::byte>> parts;
    all_succeed(messaging(), [&] {
        parts.resize(comm_.size());
        Packer packer;
        packer(structure, static_cast<SharedPlan const&>(plan));
        common = packer.take();
        for (LocalPlan const& local : plans_of_others) {
            Packer own;
            own(local);
            parts[local.process] = own.take();
        }
    });
    broadcast(comm_, common, leader);
    (void)scatter(comm_, parts, leader);
    all_succeed(messaging(), [] {});
}

template <class T> void Ensemble<T>::take_plan() {
    drop_factors();
    all_succeed(messaging(), [] {});
    std::vector<std::byte> common;
    broadcast(comm_, common, leader);
    std::vector<std::byte> const own = scatter(comm_, {}, leader);
    all_succeed(messaging(), [&] {
        Unpacker unpack_common(common), unpack_own(own);
        unpack_common(own_structure_, static_cast<SharedPlan&>(own_plan_));
        unpack_own(static_cast<LocalPlan&>(own_plan_));
    });
    structure_ = &own_structure_;
    plan_ = &own_plan_;
}

template <class T> void Ensemble<T>::share_assembly(AssemblyMap whole) {
    if (is_alone()) {
        assembly_ = std::move(whole);
        return;
    }
    give({.kind = OrderKind::assembly});
    std::vector<std::vector<std::byte>> parts;
    AssemblyMap mine;
    all_succeed(messaging(), [&] {
        parts.resize(comm_.size());
        sources_.assign(parts.size(), {});
        for (std::int32_t p = 0; p < comm_.size(); ++p) {
            auto const at = static_cast<std::size_t>(p);
            AssemblyMap part = whole.part_of(plan_->process_of_cblk, p, sources_[at]);
            if (p == leader) {
                mine = std::move(part);
                continue;
            }
            Packer packer;
            packer(part, std::uint64_t{sources_[at].size()});
            parts[at] = packer.take();
        }
    });
    (void)scatter(comm_, parts, leader);
    all_succeed(messaging(), [] {});
    assembly_ = std::move(mine);
}

template <class T> void Ensemble<T>::take_assembly(std::vector<std::vector<std::byte>> const& parts) {
    all_succeed(messaging(), [] {});
    std::vector<std::byte> const own = scatter(comm_, parts, leader);
    AssemblyMap map;
    all_succeed(messaging(), [&] {
        Unpacker unpacker(own);
        unpacker(map, own_values_);
    });
    assembly_ = std::move(map);
}

#define ESPALIER_INSTANTIATE(T) template class Ensemble<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
