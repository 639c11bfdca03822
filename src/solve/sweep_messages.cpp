// The messages of a sweep: sums of contributions to the cblks of other processes, and their solutions.
#include <algorithm>

#include <fmt/format.h>

#include "solve/sweep.hpp"

namespace espalier {

template <class T> void Sweep<T>::list_left_over() {
    if (!messaging_) return;
    leaving_.resize(plan_.partition.branches.size());
    for (CblkId k = 0; k < structure_.num_cblks(); ++k) {
        DelayedPanel<T> const* const panel = factor_.delayed(k);
        if (!panel || panel->left() == 0) continue;
        CblkId const parent = factor_.cblk(k).parent;
        if (!factor_.has_panel(parent)) leaving_[plan_.partition.branch_of_cblk[parent]].push_back(k);
    }
}

template <class T> Index Sweep<T>::num_left_for(BranchId number) const {
    Index sum = 0;
    for (CblkId const k : leaving_for(number)) sum += factor_.delayed(k)->left();
    return sum;
}

// Sweeps of one part exchange messages without the rows of the other part. All sums carry the entries of rows
// left over: right-hand sides, or results of an earlier forward part.
template <class T> Index Sweep<T>::rows_of_sum(BranchId number) const {
    return part_ == SweepPart::backward ? 0 : factor_.cblk(branch(number).root).width();
}
template <class T> Index Sweep<T>::rows_of_solution(BranchId number) const {
    return part_ == SweepPart::forward ? 0 : factor_.cblk(branch(number).root).width();
}

// The sum of the contributions of local branches to a branch of another process, and the entries of the rows
// left over for it.
template <class T> Block Sweep<T>::sum_for(BranchId number) {
    CblkId const j = branch(number).root;
    Index const rows = rows_of_sum(number);
    Block block = Block::allocate(message_bytes(rows + num_left_for(number)));
    T* to = block.template as<T>().data();
    if (rows > 0) {
        std::fill_n(to, rows * vectors_, T(0));
        collect(j, to, false);
        to += rows * vectors_;
    }
    for (CblkId const k : leaving_for(number)) {
        DelayedPanel<T> const& panel = *factor_.delayed(k);
        to = gather(equations(panel).subspan(panel.pivots()), to);
    }
    return block;
}

// Stores the solution of columns left over, or the results of their rows after a forward part.
template <class T> void Sweep<T>::receive_solution(BranchId number) {
    Block block = std::move(solutions_[number]);
    Index const rows = rows_of_solution(number);
    T const* from = block.template as<T>().data();
    if (rows > 0) std::copy_n(from, rows * vectors_, rows_of(factor_.cblk(branch(number).root)).z.data);
    from += rows * vectors_;
    for (CblkId const k : leaving_for(number)) {
        DelayedPanel<T> const& panel = *factor_.delayed(k);
        scatter(from,
                (part_ == SweepPart::forward ? equations(panel) : unknowns(panel)).subspan(panel.pivots()));
        from += panel.left() * vectors_;
    }
    messages_.received_done(block.size());
}

template <class T> void Sweep<T>::send_solution(BranchId number) {
    double const priority = plan_.solve.graph.priority[plan_.solve.backward_of_branch[number]];
    CblkId const j = branch(number).root;
    Index const rows = rows_of_solution(number);
    for (std::int32_t const process : plan_.solve.contributors.of(number)) {
        ArrivedColumns const arrived = factor_.arrived_from(process, j);
        Block block = Block::allocate(message_bytes(rows + arrived.count));
        T* const to = block.template as<T>().data();
        std::copy_n(rows_of(factor_.cblk(j)).z.data, rows * vectors_, to);
        std::copy_n(x_ + arrived.first * vectors_, arrived.count * vectors_, to + rows * vectors_);
        messages_.send(process, plan_.number_of(number), std::move(block),
                       {.tag = numbers_.solution(process, number), .priority = priority});
    }
}

// Called by a communication thread.
template <class T> void Sweep<T>::receive(int from, std::int64_t id, Block&& block) {
    BranchId const u = plan_.find_branch(id);
    if (u == no_branch) throw Error(Status::internal, fmt::format("received a message for branch {}", id));
    CblkId const root = branch(u).root;
    bool const is_own = plan_.is_own(root);
    std::size_t const expected =
        message_bytes(is_own ? rows_of_sum(u) + factor_.arrived_from(from, root).count
                             : rows_of_solution(u) + num_left_for(u));
    if (block.size() != expected)
        throw Error(Status::internal,
                    fmt::format("received {} bytes for branch {}; expected {}", block.size(), id, expected));
    if (!is_own) {
        solutions_[u] = std::move(block);
        team_.release(plan_.solve.backward_of_branch[u]);
        return;
    }
    auto const contributors = plan_.solve.contributors.of(u);
    auto const at = std::lower_bound(contributors.begin(), contributors.end(), from);
    if (at == contributors.end() || *at != from)
        throw Error(Status::internal, fmt::format("process {} does not contribute to branch {}", from, id));
    received_[plan_.solve.contributors.ptr[u] + (at - contributors.begin())] = std::move(block);
    team_.release(plan_.solve.forward_of_branch[u]);
}

// Subtracts the sums of other processes from the rows of a branch, and stores the entries of rows left over.
template <class T> void Sweep<T>::take_sums(BranchId number) {
    Contributors const& contributors = plan_.solve.contributors;
    CblkId const j = branch(number).root;
    Index const size = rows_of_sum(number) * vectors_;
    for (Offset at = contributors.ptr[number]; at < contributors.ptr[number + 1]; ++at) {
        Block block = std::move(received_[at]);
        T const* const sum = block.template as<T>().data();
        T* const x = rows_of(factor_.cblk(j)).z.data;
        for (Index i = 0; i < size; ++i) x[i] -= sum[i];
        ArrivedColumns const arrived = factor_.arrived_from(contributors.processes[at], j);
        std::copy_n(sum + size, arrived.count * vectors_, x_ + arrived.first * vectors_);
        messages_.received_done(block.size());
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void Sweep<T>::list_left_over();                                                                \
    template Index Sweep<T>::num_left_for(BranchId) const;                                                   \
    template Index Sweep<T>::rows_of_sum(BranchId) const;                                                    \
    template Index Sweep<T>::rows_of_solution(BranchId) const;                                               \
    template Block Sweep<T>::sum_for(BranchId);                                                              \
    template void Sweep<T>::receive_solution(BranchId);                                                      \
    template void Sweep<T>::send_solution(BranchId);                                                         \
    template void Sweep<T>::receive(int, std::int64_t, Block&&);                                             \
    template void Sweep<T>::take_sums(BranchId);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
