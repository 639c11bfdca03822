// Passes of right-hand sides through the factors that the processes of an ensemble have, and what the factors
// say of the matrix. The leader has the vectors, and sends and gets the rows of the others.
#include <algorithm>
#include <cstring>
#include <utility>

#include "solve/solve.hpp"
#include "solver/ensemble_order.hpp"

namespace espalier {

namespace {

// Vectors of a sweep with several processes, at most: the leader holds as many copies.
constexpr Index vectors_at_once = 16;

template <class F> void run_part(SweepPart part, Factor<F> const& factor, FactorPlan const& plan,
                                 MatrixView<F> x, WorkerTeam& team, SolveOptions const& options) {
    switch (part) {
    case SweepPart::whole:
        return solve<F>(factor, plan, x, team, options);
    case SweepPart::forward:
        return condense<F>(factor, plan, x, team, options);
    case SweepPart::backward:
        return expand<F>(factor, plan, x, team, options);
    }
}

} // namespace

template <class T> template <class F> void Ensemble<T>::sweep(MatrixView<F> x, SweepPart part, MatrixOp op) {
    Order order{.kind = OrderKind::sweep, .is_narrow = !std::is_same_v<F, T>};
    order.part = part;
    order.op = op;
    order.columns = x.cols;
    if (is_alone()) return run_part<F>(part, *slot<F>(), *plan_, x, workers(), {op, interrupt_.get()});
    give(order);
    run_sweep<F>(order, x);
}

template <class T> template <class F> void Ensemble<T>::run_sweep(Order const& order, MatrixView<F> x) {
    Index const rows = structure_->vector_rows();
    for (Index first = 0; first < order.columns; first += vectors_at_once) {
        Index const columns = std::min(vectors_at_once, order.columns - first);
        std::vector<F> local;
        std::vector<std::vector<F>> of_process; // on the leader
        std::vector<std::span<std::byte>> parts;
        std::vector<std::span<std::byte const>> sent;
        // Calls copy(value of x, its place in of_process).
        auto const for_each_value = [&](auto const& copy) {
            for (std::size_t p = 0; p < of_process.size(); ++p) {
                F* at = of_process[p].data();
                for (Index j = first; j < first + columns; ++j)
                    for (Index const row : unknowns_[p]) copy(x.column(j)[row], *at++);
            }
        };
        all_succeed(messaging(), [&] {
            lend_tracks();
            local.resize(rows * columns);
            if (!leads()) return;
            for (auto const& unknowns : unknowns_) {
                auto& part = of_process.emplace_back(std::ssize(unknowns) * columns);
                parts.push_back(std::as_writable_bytes(std::span(part)));
                sent.push_back(parts.back());
            }
        });
        for_each_value([](F const& value, F& to) { to = value; });
        scatter(comm_, sent, std::as_writable_bytes(std::span(local)), leader);
        if (leads()) std::copy(of_process[leader].begin(), of_process[leader].end(), local.begin());
        SolveOptions const options{order.op, interrupt_.get(), messaging()};
        MatrixView<F> const mine{local.data(), rows, columns, std::max<Index>(1, rows)};
        run_part<F>(order.part, *slot<F>(), *plan_, mine, workers(), options);
        gather(comm_, std::as_bytes(std::span(local)), parts, leader);
        if (leads()) std::copy(local.begin(), local.end(), of_process[leader].begin());
        for_each_value([](F& value, F const& from) { value = from; });
    }
}

template <class T> template <class F> Pivots<F> Ensemble<T>::pivots() {
    if (is_alone()) return pivots_of(*slot<F>());
    give({.kind = OrderKind::pivots, .is_narrow = !std::is_same_v<F, T>});
    return run_pivots<F>();
}

template <class T> template <class F> Pivots<F> Ensemble<T>::run_pivots() {
    std::vector<std::byte> mine;
    // Calls body(bytes of the entries of cblk k) for each list of pivots.
    auto const for_each_part = [](Pivots<F>& pivots, Cblk const& cblk, auto const& body) {
        auto const part = [&](auto& list) {
            if (!list.empty())
                body(std::as_writable_bytes(std::span(list).subspan(cblk.first_col, cblk.width())));
        };
        part(pivots.diagonal);
        part(pivots.off_diagonal);
        part(pivots.perm);
    };
    all_succeed(messaging(), [&] {
        Pivots<F> own = pivots_of(*slot<F>());
        for (CblkId k = 0; k < structure_->num_cblks(); ++k)
            if (plan_->is_own(k))
                for_each_part(own, structure_->cblk(k), [&](std::span<std::byte> part) {
                    mine.insert(mine.end(), part.begin(), part.end());
                });
    });
    auto const of_process = gather(comm_, mine, leader);
    Pivots<F> pivots;
    if (!leads()) return pivots;
    pivots = no_pivots(*slot<F>(), *whole_);
    std::vector<std::size_t> at(of_process.size(), 0);
    for (CblkId k = 0; k < whole_->num_cblks(); ++k) {
        std::int32_t const p = process_of_cblk_[k];
        for_each_part(pivots, whole_->cblk(k), [&](std::span<std::byte> bytes) {
            std::memcpy(bytes.data(), of_process[p].data() + at[p], bytes.size());
            at[p] += bytes.size();
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
