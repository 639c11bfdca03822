// One block of vectors on its way up and down the tree. A task is the forward or the backward part of a
// branch.
//
// Forward, a branch subtracts its contributions to its own later rows directly and sums those to rows above
// it in an outbox, one entry for each row below its root; a cblk above the cut first collects from the
// outboxes of the branches that face it. Backward needs no such care: every row above is final.
//
//               A = L L^op, L D L^op       L U                U^T L^T (op(A) of lu)
//     forward   L, below(k)                L, below(k)        U^T, upper(k)
//     backward  L^op, below(k)             U, upper(k)        L^T, below(k)
//
// where L^op is L^T or L^H. What remains of op(A) is conj(A), and conj(A) x = b is A conj(x) = conj(b): the
// vectors are conjugated where a branch takes them in and hands them out.
//
// Among several processes each does its own branches. What these have for the cblk of another process is
// summed up and sent to it (give), which subtracts what comes by ascending ranks; and it sends its solution
// to all who gave (take). So the order of summation depends on the plan alone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/message_run.hpp"
#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "kernels/level2.hpp"
#include "simulation/factor_plan.hpp"
#include "solve/sparse_block.hpp"
#include "solve/sweep_numbers.hpp"

namespace espalier {

enum class SweepPart { whole, forward, backward };

template <class T> class Sweep {
  public:
    /// Vectors that go through the tree together, at most: their entries in a cblk stay in the second-level
    /// cache.
    static constexpr Index max_vectors = is_complex<T> ? 32 : 64;

    /// For blocks of up to `vectors` columns. Allocates all its memory now. The arguments live longer.
    /// `messaging` leads to the other processes of the plan; null when there are none.
    Sweep(Factor<T> const& factor, FactorPlan const& plan, MatrixOp op, Index vectors, WorkerTeam& team,
          Interrupt* interrupt, Messaging const* messaging = nullptr);

    /// In place for columns of n entries each in the caller's order of rows; among several processes each
    /// reads and writes the rows of its own branches, and all call this. With `sparse`, which whole sweeps
    /// and forward ones of a single process can have, the columns are only written to.
    void run(std::span<T* const> columns, SweepPart part, SparseBlock<T> const* sparse = nullptr);

  private:
    struct alignas(64) Worker { // of one worker
        T* buffer = nullptr;
        Offset unasked = 0; // multiplications since the interrupt was asked
    };

    void forward(Branch const& branch, BranchId number, Worker& worker);
    void backward(Branch const& branch, Worker& worker);
    void load(Index first, Index end);
    void load_sparse(Index first, Index end);
    void store(Index first, Index end);

    void number_tasks();
    void execute(TaskId task, WorkerId worker);
    [[nodiscard]] Block sum_for(BranchId number);
    void take(BranchId number);
    void send_solution(BranchId number);
    void receive(int from, std::int64_t id, Block&& block);
    [[nodiscard]] Block block_for(Cblk const& c, SweepPart idle) const;
    void subtract_received(BranchId number);

    void forward_cblk(CblkId k, RowBlock<T> contribution, Worker& worker);
    void backward_cblk(CblkId k, Worker& worker);
    void distribute(CblkId k, CblkId root, RowBlock<T> contribution, RowBlock<T> outbox);
    void collect(CblkId j, T* to, bool subtracted);
    void permute(CblkId k, bool inverse, Worker& worker);
    void count(Worker& worker, MatrixView<T const> coefficients);

    [[nodiscard]] bool is_kept(CblkId k) const { return k >= structure_.first_kept_cblk; }
    [[nodiscard]] bool is_reached(CblkId k) const { return !sparse_ || sparse_->reached[k]; }
    [[nodiscard]] Blok const& blok(BlokId b) const { return structure_.bloks[b]; }
    [[nodiscard]] Branch const& branch(BranchId b) const { return plan_.partition.branches[b]; }
    [[nodiscard]] RowBlock<T> rows(Index first, Index count) const {
        return {{x_ + first * vectors_, vectors_, count, vectors_}, conjugated_};
    }
    [[nodiscard]] RowBlock<T> rows_of(Cblk const& c) const { return rows(c.first_col, c.width()); }
    [[nodiscard]] RowBlock<T> block_at(T* memory, Index length) const {
        return {{memory, vectors_, length, vectors_}, conjugated_};
    }
    [[nodiscard]] RowBlock<T> outbox(BranchId b) const {
        return block_at(outboxes_ + outbox_ptr_[b] * vectors_, factor_.cblk(branch(b).root).rows_below());
    }

    Factor<T> const& factor_;
    BlockStructure const& structure_;
    FactorPlan const& plan_;
    FactorForm form_;
    bool transposed_;  ///< lu with the roles of L and U exchanged.
    bool conjugate_a_; ///< conj(A) in place of A.
    Op backward_op_;   ///< L^op, or Op::none for U.
    WorkerTeam& team_;
    Interrupt* interrupt_;
    Messaging const* messaging_;

    std::vector<Offset> outbox_ptr_; ///< By branch, in entries of one vector.
    std::vector<Worker> workers_;
    std::unique_ptr<std::byte[]> memory_; ///< Of everything below.
    T* x_ = nullptr;
    T* outboxes_ = nullptr;

    // Blocks that came: of branch u those of its givers from plan.solve.giver_ptr[u] on, or its solution.
    std::vector<Block> received_, solutions_;
    MessageRun messages_;

    // Of the present run.
    std::span<T* const> columns_;
    SweepPart part_ = SweepPart::whole;
    SparseBlock<T> const* sparse_ = nullptr;
    std::vector<std::int32_t> levels_; ///< Of the cblks in the tree, for a trace.
    SweepNumbers numbers_;             ///< In the trace.
    Index vectors_ = 0;
    bool conjugated_ = false; ///< The block (RowBlock), not A.
};

} // namespace espalier
