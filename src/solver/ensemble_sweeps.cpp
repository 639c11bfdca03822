// Passes of right-hand sides through the factors that the processes of an ensemble have, and what the factors
// say of the matrix. The leader has the vectors, and sends and gets the rows of the others.
#include <algorithm>
#include <cstring>
#include <utility>

#include "solve/solve.hpp"
#include "solver/ensemble_order.hpp"

namespace espalier {

namespace {
/// Vectors of a sweep among several processes, at most: each holds as many whole ones.
constexpr Index vectors_at_once = 16;
} // namespace

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
            body(static_cast<std::size_t>(process), structure_->inverse[c]);
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
        columns.reserve(vectors);
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
    gather(comm_, memory[comm_.rank()], parts, leader);
    for (std::int32_t p = 1; leads() && p < comm_.size(); ++p) {
        auto const* from = memory[p].data();
        for_each_part(p, [&](std::span<std::byte> bytes) {
            std::memcpy(bytes.data(), from, bytes.size());
            from += bytes.size();
        });
    }
    return pivots;
}

#define ESPALIER_INSTANTIATE_SWEEPS(T, F)                                                                    \
    template void Ensemble<T>::sweep<F>(MatrixView<F>, SweepPart, MatrixOp);                                 \
    template void Ensemble<T>::run_sweep<F>(Order const&, MatrixView<F>);                                    \
    template Pivots<F> Ensemble<T>::pivots<F>();                                                             \
    template Pivots<F> Ensemble<T>::run_pivots<F>();
#define ESPALIER_INSTANTIATE(T) ESPALIER_INSTANTIATE_SWEEPS(T, T)
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_SWEEPS(double, float)
ESPALIER_INSTANTIATE_SWEEPS(std::complex<double>, std::complex<float>)

} // namespace espalier
