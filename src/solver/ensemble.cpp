#include "solver/ensemble.hpp"

#include <algorithm>
#include <utility>

#include "comm/thread_level.hpp"
#include "core/pack.hpp"
#include "runtime/process_limits.hpp"
#include "solver/ensemble_order.hpp"
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

template <class T>
void Ensemble<T>::share_plan(BlockStructure const& structure, FactorPlan const& plan, ProcessPlans plans) {
    whole_ = structure_ = &structure;
    plan_ = &plan;
    drop_factors();
    if (is_alone()) return;
    give({.kind = OrderKind::plan});
    all_succeed(messaging(), [&] {
        process_of_cblk_ = std::move(plans.process_of_cblk);
        unknowns_ = owned_unknowns(structure, process_of_cblk_, comm_.size());
    });
    take_part(std::move(plans));
}

template <class T> void Ensemble<T>::take_plan() {
    drop_factors();
    all_succeed(messaging(), [] {});
    take_part({});
}

template <class T> void Ensemble<T>::take_part(ProcessPlans plans) {
    part_ = deal_plans(comm_, std::move(plans));
    structure_ = &part_.structure;
    plan_ = &part_.plan;
}

template <class T> void Ensemble<T>::share_assembly(AssemblyMap whole) {
    if (is_alone()) {
        assembly_ = std::move(whole);
        return;
    }
    give({.kind = OrderKind::assembly});
    take_assembly(whole);
}

template <class T> void Ensemble<T>::take_assembly(AssemblyMap const& whole) {
    AssemblyPart part = deal_assembly(comm_, whole, process_of_cblk_, *plan_);
    assembly_ = std::move(part.map);
    sources_ = std::move(part.sources);
    own_values_ = part.values;
}

#define ESPALIER_INSTANTIATE(T) template class Ensemble<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
