#include "api/ensemble.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "api/pack_plan.hpp"
#include "api/pack_report.hpp"
#include "comm/thread_level.hpp"
#include "core/pack.hpp"
#include "runtime/process_limits.hpp"
#include "solve/solve.hpp"

namespace espalier {

namespace {

enum class OrderKind : std::int32_t {
    plan,
    assembly,
    factorize,
    sweep,
    pivots,
    restart_recording,
    trace,
    end
};

constexpr int leader = 0;
/// Vectors of a sweep among several processes, at most: each holds as many whole ones.
constexpr Index vectors_at_once = 16;
constexpr std::size_t smallest_budget = std::size_t{64} << 20;

// CallSettings on their way.
struct SettingsMessage {
    char call[32] = {}; // names are shorter
    int threads = 1;
    int comm_threads = 1;
    bool bind_threads = true;
    bool record_trace = false;
};

} // namespace

template <class T> struct Ensemble<T>::Order {
    OrderKind kind = OrderKind::end;
    bool is_narrow = false; ///< factorize, sweep, pivots: of the factors in Low.
    bool failed = false;    ///< end.
    FactorForm form{};
    Allocation allocation = Allocation::local;
    double pivot_threshold = 0;
    SweepPart part = SweepPart::whole;
    MatrixOp op = MatrixOp::none;
    Index columns = 0;
    Status status = Status::ok;
    std::uint64_t bytes = 0; ///< end: of what follows.
};

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

template <class T> template <class F> std::unique_ptr<Factor<F>>& Ensemble<T>::slot() {
    if constexpr (std::is_same_v<F, T>)
        return full_;
    else
        return narrow_;
}

template <class T> template <class F> Factor<F>& Ensemble<T>::factor() {
    return *slot<F>();
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
    std::vector<std::vector<std::byte>> parts(static_cast<std::size_t>(comm_.size()));
    all_succeed(messaging(), [&] {
        Packer packer;
        packer(structure, static_cast<SharedPlan const&>(plan));
        common = packer.take();
        for (LocalPlan const& local : plans_of_others) {
            Packer own;
            own(local);
            parts[static_cast<std::size_t>(local.process)] = own.take();
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
    std::vector<std::vector<std::byte>> parts(static_cast<std::size_t>(comm_.size()));
    AssemblyMap mine;
    all_succeed(messaging(), [&] {
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

template <class T> template <class F>
std::vector<FactorResult> Ensemble<T>::factorize(std::span<F const> values, FactorForm form,
                                                 Allocation allocation, FactorizeOptions options) {
    Order order{.kind = OrderKind::factorize, .is_narrow = !std::is_same_v<F, T>};
    order.form = form;
    order.allocation = allocation;
    order.pivot_threshold = options.pivot_threshold;
    if (!is_alone()) give(order);
    return run_factorize<F>(order, values, options);
}

// `values` are the leader's: the whole matrix.
template <class T> template <class F> std::vector<FactorResult>
Ensemble<T>::run_factorize(Order const& order, std::span<F const> values, FactorizeOptions options) {
    options.messaging = messaging();
    std::vector<F> own; // of several processes
    {
        std::vector<std::vector<F>> of_process;
        std::vector<std::span<std::byte const>> from;
        all_succeed(messaging(), [&] {
            lend_tracks();
            allocate<F>(order);
            if (is_alone()) return;
            if (!leads()) return own.resize(own_values_);
            for (std::vector<Offset> const& sources : sources_) {
                auto& chosen = of_process.emplace_back();
                chosen.reserve(sources.size());
                for (Offset const at : sources) chosen.push_back(values[static_cast<std::size_t>(at)]);
            }
            own = std::exchange(of_process[leader], {}); // it stays
            for (auto const& chosen : of_process) from.push_back(std::as_bytes(std::span(chosen)));
        });
        if (!is_alone()) {
            auto const into = leads() ? std::span<F>() : std::span<F>(own);
            scatter(comm_, from, std::as_writable_bytes(into), leader);
            values = own;
        }
    }
    return collect<F>(espalier::factorize<F>(values, *assembly_, *plan_, *slot<F>(), workers(), options));
}

// The memory of one is all that was asked for.
template <class T> template <class F> void Ensemble<T>::allocate(Order const& order) {
    if constexpr (!std::is_same_v<F, T>)
        full_.reset();
    else if constexpr (!std::is_same_v<Low, T>)
        narrow_.reset();
    auto& factor = slot<F>();
    if (!factor) factor = std::make_unique<Factor<F>>(*structure_);
    factor->allocate(order.form, plan_->owner_of_cblk, order.allocation, workers(), interrupt_.get());
    std::size_t largest = 0;
    PanelFormat const format{sizeof(F), order.form.has_upper()};
    for (std::int32_t const b : plan_->incoming) {
        FanInBlock const& block = plan_->factor.fan_in.blocks[static_cast<std::size_t>(b)];
        Index const width = structure_->cblks[static_cast<std::size_t>(block.target)].width();
        largest =
            std::max(largest, static_cast<std::size_t>(format.bytes(block.rows, block.rows_below, width)));
    }
    messaging_.exchange.receive_budget = std::max(smallest_budget, 2 * largest);
}

// With where the panels lie, on the leader.
template <class T> template <class F>
std::vector<FactorResult> Ensemble<T>::collect(FactorizeStats const& stats) {
    std::vector<FactorResult> results(1);
    std::vector<std::byte> bytes;
    all_succeed(messaging(), [&] {
        results[0] = {stats,
                      measure_placement(*slot<F>(), *plan_, stats.worker_of_task, workers(), *topology_),
                      *topology_};
        if (leads()) return;
        Packer packer;
        packer(results[0]);
        bytes = packer.take();
    });
    if (is_alone()) return results;
    std::vector<std::vector<std::byte>> const packed = gather(comm_, bytes, leader);
    for (std::size_t p = 1; p < packed.size(); ++p) {
        Unpacker unpacker(packed[p]);
        unpacker(results.emplace_back());
    }
    return results;
}

template <class T> template <class F> void Ensemble<T>::sweep(MatrixView<F> x, SweepPart part, MatrixOp op) {
    Order order{.kind = OrderKind::sweep, .is_narrow = !std::is_same_v<F, T>};
    order.part = part;
    order.op = op;
    order.columns = x.cols;
    SolveOptions const options{op, interrupt_.get()};
    if (is_alone() && part == SweepPart::whole) return solve<F>(*slot<F>(), *plan_, x, workers(), options);
    if (is_alone() && part == SweepPart::forward)
        return condense<F>(*slot<F>(), *plan_, x, workers(), options);
    if (is_alone()) return expand<F>(*slot<F>(), *plan_, x, workers(), options);
    give(order);
    run_sweep<F>(order, x);
}

// Those that travel: the leader's own stay where they are.
template <class T> template <class Body> void Ensemble<T>::for_each_row(Body const& body) const {
    for (std::size_t k = 0; k < structure_->cblks.size(); ++k) {
        std::int32_t const process = plan_->process_of_cblk[k];
        if (process == leader || (!leads() && process != comm_.rank())) continue;
        for (Index c = structure_->cblks[k].first_col; c < structure_->cblks[k].end_col; ++c)
            body(static_cast<std::size_t>(process), structure_->inverse[static_cast<std::size_t>(c)]);
    }
}

template <class T> template <class F> void Ensemble<T>::run_sweep(Order const& order, MatrixView<F> x) {
    Index const n = structure_->n;
    Index const vectors = std::min(order.columns, vectors_at_once);
    auto const processes = static_cast<std::size_t>(comm_.size()),
               me = static_cast<std::size_t>(comm_.rank());
    std::optional<Sweep<F>> sweep;
    std::vector<F> local;
    std::vector<F*> columns;
    std::vector<std::size_t> rows;                    // of each process
    std::vector<std::vector<std::byte>> memory;       // of its rows, row by row
    std::vector<std::span<std::byte>> parts, nowhere; // of that, what is in use
    std::vector<std::span<std::byte const>> sent, unsent;
    std::vector<std::byte*> at;
    all_succeed(messaging(), [&] {
        lend_tracks();
        sweep.emplace(*slot<F>(), *plan_, order.op, vectors, workers(), interrupt_.get(), messaging());
        if (!leads()) local.resize(static_cast<std::size_t>(n * vectors));
        columns.reserve(static_cast<std::size_t>(vectors));
        rows.assign(processes, 0);
        for_each_row([&](std::size_t process, Index) { ++rows[process]; });
        for (std::size_t const count : rows)
            memory.emplace_back(count * static_cast<std::size_t>(vectors) * sizeof(F));
        at.resize(processes);
        parts.resize(processes);
        sent.resize(processes);
    });
    auto const for_each_value = [&](auto const& copy) {
        for (std::size_t p = 0; p < processes; ++p) at[p] = parts[p].data();
        for_each_row([&](std::size_t process, Index row) {
            for (F* const column : columns) {
                copy(column + row, at[process]);
                at[process] += sizeof(F);
            }
        });
    };
    auto const pack = [&] {
        for_each_value([](F* value, std::byte* to) { std::memcpy(to, value, sizeof(F)); });
    };
    auto const unpack = [&] {
        for_each_value([](F* value, std::byte* from) { std::memcpy(value, from, sizeof(F)); });
    };
    for (Index first = 0; first < order.columns; first += vectors_at_once) {
        columns.clear();
        for (Index j = 0; j < std::min(vectors_at_once, order.columns - first); ++j)
            columns.push_back(leads() ? x.column(first + j) : local.data() + j * n);
        for (std::size_t p = 0; p < processes; ++p)
            sent[p] = parts[p] = std::span(memory[p]).first(rows[p] * columns.size() * sizeof(F));
        if (leads()) pack();
        scatter(comm_, leads() ? sent : unsent, parts[me], leader);
        if (!leads()) unpack();
        sweep->run(columns, order.part);
        if (!leads()) pack();
        gather(comm_, parts[me], leads() ? parts : nowhere, leader);
        if (leads()) unpack();
    }
}

template <class T> template <class F> Pivots<F> Ensemble<T>::pivots() {
    if (is_alone()) return pivots_of(*slot<F>());
    give({.kind = OrderKind::pivots, .is_narrow = !std::is_same_v<F, T>});
    return run_pivots<F>();
}

template <class T> template <class F> Pivots<F> Ensemble<T>::run_pivots() {
    Pivots<F> pivots;
    std::vector<std::vector<std::byte>> memory; // of each process's pivots
    std::vector<std::span<std::byte>> parts;
    // Calls body(bytes of the entries of a cblk) for each list of pivots of each cblk of a process.
    auto const for_each_part = [&](std::int32_t process, auto const& body) {
        for (std::size_t k = 0; k < structure_->cblks.size(); ++k) {
            if (plan_->process_of_cblk[k] != process) continue;
            auto const first = static_cast<std::size_t>(structure_->cblks[k].first_col);
            auto const width = static_cast<std::size_t>(structure_->cblks[k].width());
            auto const part = [&](auto& list) {
                if (!list.empty()) body(std::as_writable_bytes(std::span(list).subspan(first, width)));
            };
            part(pivots.diagonal);
            part(pivots.off_diagonal);
            part(pivots.perm);
        }
    };
    all_succeed(messaging(), [&] {
        pivots = pivots_of(*slot<F>());
        for (std::int32_t p = 0; p < comm_.size(); ++p) {
            auto& bytes = memory.emplace_back();
            if (p == leader || (!leads() && p != comm_.rank())) continue;
            for_each_part(
                p, [&](std::span<std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
        }
        if (leads()) parts.assign(memory.begin(), memory.end());
    });
    gather(comm_, memory[static_cast<std::size_t>(comm_.rank())], parts, leader);
    for (std::int32_t p = 1; leads() && p < comm_.size(); ++p) {
        auto const* from = memory[static_cast<std::size_t>(p)].data();
        for_each_part(p, [&](std::span<std::byte> bytes) {
            std::memcpy(bytes.data(), from, bytes.size());
            from += bytes.size();
        });
    }
    return pivots;
}

#define ESPALIER_INSTANTIATE_FACTORS(T, F)                                                                   \
    template std::vector<FactorResult> Ensemble<T>::factorize<F>(std::span<F const>, FactorForm, Allocation, \
                                                                 FactorizeOptions);                          \
    template void Ensemble<T>::sweep<F>(MatrixView<F>, SweepPart, MatrixOp);                                 \
    template Pivots<F> Ensemble<T>::pivots<F>();                                                             \
    template Factor<F>& Ensemble<T>::factor<F>();
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template class Ensemble<T>;                                                                              \
    ESPALIER_INSTANTIATE_FACTORS(T, T)
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_FACTORS(double, float)
ESPALIER_INSTANTIATE_FACTORS(std::complex<double>, std::complex<float>)

} // namespace espalier
