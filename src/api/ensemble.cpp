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

template <class F> std::span<std::byte const> bytes_of(std::vector<F> const& values) {
    return std::as_bytes(std::span<F const>(values));
}

template <class F> std::vector<F> values_of(std::vector<std::byte> const& bytes) {
    std::vector<F> values(bytes.size() / sizeof(F));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

} // namespace

template <class Archive> static void describe(Archive& archive, CallSettings& s) {
    archive(s.call, s.threads, s.bind_threads, s.comm_threads, s.record_trace);
}

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

template <class T> std::string Ensemble<T>::work_with(std::function<WorkerTeam&()> workers,
                                                      std::shared_ptr<Interrupt> interrupt,
                                                      int comm_threads) {
    workers_ = std::move(workers);
    interrupt_ = std::move(interrupt);
    if (is_alone()) return {};
    ThreadsChoice choice = choose_comm_threads(comm_, comm_threads);
    messaging_.exchange.threads = choice.threads;
    return std::move(choice.message);
}

template <class T> void Ensemble<T>::agree_on_call(CallSettings& settings) {
    if (is_alone()) return;
    std::string const mine = call_ = settings.call;
    std::vector<std::byte> bytes;
    if (leads()) {
        Packer packer;
        packer(settings);
        bytes = packer.take();
    }
    broadcast(comm_, bytes, leader);
    Unpacker unpacker(bytes);
    unpacker(settings);
    std::optional<Error> other;
    if (settings.call != mine)
        other.emplace(Status::usage,
                      settings.call.empty()
                          ? mine + " was called while process 0 has no solver any more"
                          : mine + " of a solver was called while process 0 calls " + settings.call);
    agree(comm_, other).raise();
}

template <class T> CallSettings Ensemble<T>::next_call() {
    std::vector<std::byte> bytes;
    broadcast(comm_, bytes, leader);
    CallSettings settings;
    Unpacker unpacker(bytes);
    unpacker(settings);
    agree(comm_, std::nullopt).raise();
    call_ = settings.call;
    return settings;
}

template <class T>
void Ensemble<T>::end(std::optional<Error> const& error, Report& report, std::vector<std::byte> result) {
    if (is_alone()) return;
    Order order;
    order.kind = OrderKind::end;
    order.failed = error.has_value();
    order.status = error ? error->status() : Status::ok;
    give(order);
    std::string const text = error ? error->what() : "";
    Packer packer;
    packer(report, text, result);
    std::vector<std::byte> bytes = packer.take();
    broadcast(comm_, bytes, leader);
    gather_peaks(report);
}

template <class T> void Ensemble<T>::gather_peaks(Report& report) {
    std::vector<std::int64_t> const peaks = all_gather(comm_, static_cast<std::int64_t>(peak_rss_bytes()));
    report.peak_memory_of_process.assign(peaks.begin(), peaks.end());
}

template <class T> std::vector<std::byte> Ensemble<T>::serve(Report& report) {
    for (;;) {
        Order const order = next_order();
        if (order.kind == OrderKind::end) {
            std::vector<std::byte> bytes, result;
            broadcast(comm_, bytes, leader);
            std::string text;
            Unpacker unpacker(bytes);
            unpacker(report, text, result);
            gather_peaks(report);
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
            run_factorize<Low>(order, {}, {}, options);
        else
            run_factorize<T>(order, {}, {}, options);
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
    if (is_alone()) return;
    all_succeed(messaging(),
                [&] { recording_.lend_tracks(messaging_.exchange, workers().places().front().node); });
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
            packer(part);
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
        unpacker(map);
    });
    assembly_ = std::move(map);
}

template <class T> template <class F>
FactorizeStats Ensemble<T>::factorize(std::span<F const> values, FactorForm form, Allocation allocation,
                                      FactorizeOptions options) {
    Order order{.kind = OrderKind::factorize, .is_narrow = !std::is_same_v<F, T>};
    order.form = form;
    order.allocation = allocation;
    order.pivot_threshold = options.pivot_threshold;
    if (is_alone()) return run_factorize<F>(order, values, {}, options);
    give(order);
    std::vector<std::vector<std::byte>> others(sources_.size());
    std::vector<F> own;
    all_succeed(messaging(), [&] {
        for (std::size_t p = 0; p < sources_.size(); ++p) {
            std::vector<F> chosen;
            chosen.reserve(sources_[p].size());
            for (Offset const at : sources_[p]) chosen.push_back(values[static_cast<std::size_t>(at)]);
            if (p == leader)
                own = std::move(chosen);
            else
                others[p].assign(bytes_of(chosen).begin(), bytes_of(chosen).end());
        }
    });
    return run_factorize<F>(order, own, others, options);
}

template <class T> template <class F>
FactorizeStats Ensemble<T>::run_factorize(Order const& order, std::span<F const> own_values,
                                          std::vector<std::vector<std::byte>> const& others,
                                          FactorizeOptions options) {
    std::vector<F> received;
    if (!is_alone()) {
        if (!leads()) all_succeed(messaging(), [] {}); // the leader's copies
        std::vector<std::byte> const bytes = scatter(comm_, others, leader);
        all_succeed(messaging(), [&] {
            if (!leads()) received = values_of<F>(bytes);
        });
    }
    if (!leads()) own_values = received;
    options.messaging = messaging();
    lend_tracks();
    all_succeed(messaging(), [&] {
        // The memory of one is all that was asked for.
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
            largest = std::max(largest,
                               static_cast<std::size_t>(format.bytes(block.rows, block.rows_below, width)));
        }
        messaging_.exchange.receive_budget = std::max(smallest_budget, 2 * largest);
    });
    FactorizeStats const stats =
        espalier::factorize<F>(own_values, *assembly_, *plan_, *slot<F>(), workers(), options);
    return total(stats);
}

// What all did together.
template <class T> FactorizeStats Ensemble<T>::total(FactorizeStats stats) const {
    if (is_alone()) return stats;
    auto const longest =
        static_cast<std::size_t>(max(comm_, static_cast<std::int64_t>(stats.steals_by_distance.size())));
    stats.steals_by_distance.resize(longest, 0);
    sum(comm_, std::span<std::int64_t>(stats.steals_by_distance));
    std::int64_t counts[] = {stats.pivots_replaced, stats.negative_pivots, stats.steals,
                             stats.exchange.messages_sent, stats.exchange.bytes_sent};
    sum(comm_, std::span<std::int64_t>(counts));
    stats.pivots_replaced = counts[0];
    stats.negative_pivots = counts[1];
    stats.steals = counts[2];
    stats.exchange.messages_sent = counts[3];
    stats.exchange.bytes_sent = counts[4];
    stats.time_s = max(comm_, stats.time_s);
    return stats;
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
    std::optional<Sweep<F>> sweep;
    lend_tracks();
    std::vector<F> local;
    all_succeed(messaging(), [&] {
        Index const vectors = std::min(order.columns, vectors_at_once);
        sweep.emplace(*slot<F>(), *plan_, order.op, vectors, workers(), interrupt_.get(), messaging());
        if (!leads()) local.resize(static_cast<std::size_t>(n * vectors));
    });
    auto const processes = static_cast<std::size_t>(comm_.size()),
               me = static_cast<std::size_t>(comm_.rank());
    std::vector<std::size_t> rows(processes, 0);
    for_each_row([&](std::size_t process, Index) { ++rows[process]; });
    std::vector<F*> columns;
    std::vector<std::vector<std::byte>> parts(processes); // the rows of each process, row by row
    std::vector<std::byte*> at(processes);
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
        for (std::size_t p = 0; p < processes; ++p) parts[p].resize(rows[p] * columns.size() * sizeof(F));
        for_each_value([](F* value, std::byte* to) { std::memcpy(to, value, sizeof(F)); });
    };
    auto const unpack = [&] {
        for_each_value([](F* value, std::byte* from) { std::memcpy(value, from, sizeof(F)); });
    };
    for (Index first = 0; first < order.columns; first += vectors_at_once) {
        columns.clear();
        for (Index j = 0; j < std::min(vectors_at_once, order.columns - first); ++j)
            columns.push_back(leads() ? x.column(first + j) : local.data() + j * n);
        all_succeed(messaging(), [&] {
            if (leads()) pack();
        });
        std::vector<std::byte> mine = scatter(comm_, parts, leader);
        if (!leads()) {
            parts[me] = std::move(mine);
            unpack();
        }
        sweep->run(columns, order.part);
        all_succeed(messaging(), [&] {
            if (!leads()) pack();
        });
        std::vector<std::vector<std::byte>> all = gather(comm_, parts[me], leader);
        if (!leads()) continue;
        parts = std::move(all);
        unpack();
    }
}

template <class T> template <class F> Pivots<F> Ensemble<T>::pivots() {
    if (is_alone()) return pivots_of(*slot<F>());
    give({.kind = OrderKind::pivots, .is_narrow = !std::is_same_v<F, T>});
    return run_pivots<F>();
}

template <class T> template <class F> Pivots<F> Ensemble<T>::run_pivots() {
    Pivots<F> pivots;
    std::vector<std::byte> mine;
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
        if (!leads())
            for_each_part(comm_.rank(), [&](std::span<std::byte> bytes) {
                mine.insert(mine.end(), bytes.begin(), bytes.end());
            });
    });
    std::vector<std::vector<std::byte>> const parts = gather(comm_, mine, leader);
    for (std::int32_t p = 1; leads() && p < comm_.size(); ++p) {
        auto const* from = parts[static_cast<std::size_t>(p)].data();
        for_each_part(p, [&](std::span<std::byte> bytes) {
            std::memcpy(bytes.data(), from, bytes.size());
            from += bytes.size();
        });
    }
    return pivots;
}

#define ESPALIER_INSTANTIATE_FACTORS(T, F)                                                                   \
    template FactorizeStats Ensemble<T>::factorize<F>(std::span<F const>, FactorForm, Allocation,            \
                                                      FactorizeOptions);                                     \
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
