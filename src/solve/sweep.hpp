// Sweeps a block of vectors up and down the tree. A task is the forward or the backward part of a branch, or
// the product with a group of rows of a large panel (tasks/solve_tasks.hpp).
//
// Forward, a branch subtracts its contributions to its own later rows directly, and sums those to rows above
// it in an outbox, which has one entry for each row below its root. A cblk above the cut first collects from
// the outboxes of the branches that face it. The backward part needs no outboxes for rows above, which are
// final; the tasks for groups of rows store their sums there.
//
//               A = L L^op, L D L^op       L U                U^T L^T (op(A) of lu)
//     forward   L, below(k)                L, below(k)        U^T, upper(k)
//     backward  L^op, below(k)             U, upper(k)        L^T, below(k)
//
// where L^op is L^T or L^H. The rest of op(A) is conj(A), and conj(A) x = b is A conj(x) = conj(b): the
// vectors are conjugated when they are loaded and stored. Each branch loads and stores its rows. Many vectors
// are loaded before the tasks and stored afterwards instead, if there are one process and one NUMA node.
//
// A cblk with delayed columns (factor/delayed_panel.hpp) gathers its entries of the vectors by the numbers of
// its rows and columns, which may be those of descendants. The rows left over remain in place for its parent.
// The result of its forward part has its own memory, because the row and the column of a pivot of lu may have
// different numbers, so that the solution of one pivot overwrites the right-hand side of another. The result
// is also stored in place of the right-hand side, for condense() and expand().
//
// With several processes each runs its own branches. Their contributions to the cblk of another process, a
// ghost here, are summed and sent to its owner (send_sum), which subtracts the sums by ascending ranks. The
// owner sends its solution back to all contributors (receive_solution). So the order of summation depends on
// the plan alone. Both messages also carry the entries of the rows and columns that a process has left over
// for the ghost. The owner keeps them behind those of the structure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm/message_run.hpp"
#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "kernels/level2.hpp"
#include "runtime/workspace.hpp"
#include "simulation/factor_plan.hpp"
#include "solve/sparse_block.hpp"
#include "solve/sweep_numbers.hpp"

namespace espalier {

enum class SweepPart { whole, forward, backward };

template <class T> class Sweep {
  public:
    /// The largest number of vectors of a sweep, whose entries in a cblk fit the second-level cache.
    static constexpr Index max_vectors = is_complex<T> ? 32 : 64;

    /// For blocks of up to `vectors` columns. Allocates all memory, the workspace in `memory` unless it is
    /// null. The arguments must outlive this. `messaging` connects the processes of the plan; null with one
    /// process.
    Sweep(Factor<T> const& factor, FactorPlan const& plan, MatrixOp op, Index vectors, WorkerTeam& team,
          Interrupt* interrupt, Messaging const* messaging = nullptr, Workspace* memory = nullptr);

    /// Sweeps in place over columns of structure.vector_rows() entries each: with one process all rows in the
    /// order of the matrix, with several the owned rows of each process, in the order of structure.unknowns.
    /// Collective, with as many columns on each process. With `sparse`, for whole and forward sweeps of a
    /// single process, the columns are only written.
    void run(std::span<T* const> columns, SweepPart part, SparseBlock<T> const* sparse = nullptr);

  private:
    /// Number of columns that are moved together. Their entries in a row of x_ fill a cache line.
    static constexpr Index columns_together = 64 / Index{sizeof(T)};

    struct alignas(64) Worker { // written by one worker
        T* buffer = nullptr;
        Offset unchecked = 0; // multiplications since the last check of the interrupt
    };

    void forward(SolveTask const& task, Worker& worker);
    void backward(TaskId task, Worker& worker);
    void forward_rows(SolveTask const& task, Worker& worker);
    void backward_rows(SolveTask const& task, Worker& worker);
    void backward_with_sums(TaskId task, Worker& worker);
    [[nodiscard]] bool leaves_rows(SolveTask const& task) const;
    [[nodiscard]] RowBlock<T> sum_of_rows(SolveTask const& task) const;
    template <class Move> void move_rows(Index first, Index end, Move const& move);
    template <class Move> void move_all_rows(Move const& move);
    /// Whether entries are conjugated between the columns of the caller and x_. With conj(A) in place of A,
    /// x_ has the conjugate vectors; a block that is stored as Z = X^H has the conjugate entries.
    [[nodiscard]] bool moves_conjugates() const { return solves_with_conjugate_ != stores_adjoint_; }
    /// How an entry moves from a column of the caller, and to it.
    [[nodiscard]] auto loading() const {
        return [conjugates = moves_conjugates()](T& x, T const& given) { x = conj_if(conjugates, given); };
    }
    [[nodiscard]] auto storing() const {
        return [conjugates = moves_conjugates()](T const& x, T& result) { result = conj_if(conjugates, x); };
    }
    void load_sparse(Index first, Index end);

    [[nodiscard]] TaskGraph const& graph() const { return rehomed_ ? *rehomed_ : plan_.solve.graph; }
    [[nodiscard]] bool runs_alone() const;
    void run_tasks(TaskBody const& body, RunOptions& options);
    void number_tasks();
    void execute(TaskId task, WorkerId worker);
    [[nodiscard]] Block sum_for(BranchId number);
    void receive_solution(BranchId number);
    void send_solution(BranchId number);
    void receive(int from, std::int64_t id, Block&& block);
    [[nodiscard]] Index rows_of_sum(BranchId number) const;
    [[nodiscard]] Index rows_of_solution(BranchId number) const;
    [[nodiscard]] std::size_t message_bytes(Index rows) const { return rows * vectors_ * Index{sizeof(T)}; }
    void take_sums(BranchId number);
    void list_left_over();
    /// Own cblks with columns left over for this branch of another process.
    [[nodiscard]] std::span<CblkId const> leaving_for(BranchId number) const {
        return leaving_.empty() ? std::span<CblkId const>() : std::span(leaving_[number]);
    }
    [[nodiscard]] Index num_left_for(BranchId number) const;

    void forward_cblk(CblkId k, RowBlock<T> contribution, std::span<Blok const> bloks, Worker& worker);
    void backward_cblk(CblkId k, Worker& worker);
    [[nodiscard]] bool takes_one_pass(CblkId k) const;
    [[nodiscard]] RowBlock<T> forward_in_one_pass(CblkId k, Worker& worker);
    void backward_in_one_pass(CblkId k, Worker& worker);
    void backward_upper_in_one_pass(CblkId k, Worker& worker);
    void copy_rows_above(std::span<Blok const> bloks, T* to) const;
    [[nodiscard]] std::span<Blok const> bloks_of(SolveTask const& task) const;
    [[nodiscard]] std::span<Blok const> bloks_below(CblkId k) const {
        return structure_.bloks_below(factor_.cblk(k));
    }
    [[nodiscard]] IndexRange rows_of(CblkId k, std::span<Blok const> bloks) const;
    [[nodiscard]] Diag unit_lower() const {
        return form_.has_d() || form_.has_upper() ? Diag::unit : Diag::non_unit;
    }
    void forward_delayed(CblkId k, RowBlock<T> contribution, Worker& worker);
    void backward_delayed(CblkId k, Worker& worker);
    void multiply_rows_below(CblkId k, RowBlock<T> x, RowBlock<T> contribution, std::span<Blok const> bloks,
                             Worker& worker);
    void subtract_rows_above(CblkId k, RowBlock<T> x, std::span<Blok const> bloks, Worker& worker);
    void solve_diagonal(CblkId k, bool forward, RowBlock<T> x) const;
    void keep_states(CblkId first, CblkId last);
    T* gather(std::span<Index const> numbers, T* to) const;
    void scatter(T const* from, std::span<Index const> numbers);
    void distribute(CblkId k, CblkId root, RowBlock<T> contribution, RowBlock<T> outbox);
    void collect(CblkId j, T* to, bool subtracted);
    void permute(CblkId k, bool inverse, Worker& worker);
    void count(Worker& worker, MatrixView<T const> coefficients);

    [[nodiscard]] bool is_reached(CblkId k) const { return !sparse_ || sparse_->reached[k]; }
    [[nodiscard]] bool is_reached(Branch const& branch) const;
    [[nodiscard]] Branch const& branch(BranchId b) const { return plan_.partition.branches[b]; }
    [[nodiscard]] RowBlock<T> rows(Index first, Index count) const {
        return {{x_ + first * vectors_, vectors_, count, vectors_}, stores_adjoint_};
    }
    [[nodiscard]] RowBlock<T> rows_of(Cblk const& c) const { return rows(c.first_col, c.width()); }
    [[nodiscard]] RowBlock<T> block_at(T* memory, Index length) const {
        return {{memory, vectors_, length, vectors_}, stores_adjoint_};
    }
    /// The result of the forward part of a cblk with delayed columns.
    [[nodiscard]] RowBlock<T> state(CblkId k) const {
        return block_at(states_ + state_ptr_[k] * vectors_, factor_.delayed(k)->pivots());
    }
    /// The numbers of the right-hand sides of a cblk with delayed columns, and those of its unknowns.
    [[nodiscard]] std::span<Index const> equations(DelayedPanel<T> const& panel) const {
        return transposed_ ? panel.column_numbers() : panel.row_numbers();
    }
    [[nodiscard]] std::span<Index const> unknowns(DelayedPanel<T> const& panel) const {
        return transposed_ ? panel.row_numbers() : panel.column_numbers();
    }
    [[nodiscard]] RowBlock<T> outbox(BranchId b) const {
        return block_at(outboxes_ + outbox_ptr_[b] * vectors_, factor_.cblk(branch(b).root).rows_below());
    }

    Factor<T> const& factor_;
    BlockStructure const& structure_;
    FactorPlan const& plan_;
    FactorForm form_;
    bool transposed_;                  ///< Solves with lu in which L and U exchange their roles.
    bool solves_with_conjugate_;       ///< Whether conj(A) takes the place of A.
    Op backward_op_;                   ///< L^op, or Op::none for U.
    std::optional<TaskGraph> rehomed_; ///< The graph if tasks follow panels to other nodes than planned.
    WorkerTeam& team_;
    Interrupt* interrupt_;
    Messaging const* messaging_;

    std::vector<Offset> outbox_ptr_; ///< First entry of each branch, for one vector.
    /// First entry of each cblk with delayed columns; empty if there are none.
    std::vector<Offset> state_ptr_;
    /// leaving_for() of each branch; empty if there are no such cblks.
    std::vector<std::vector<CblkId>> leaving_;
    std::vector<Worker> workers_;
    // x_, outboxes_, states_ and the buffers of the workers are in memory of the caller or here.
    Workspace own_memory_;
    T* x_ = nullptr;
    T* outboxes_ = nullptr;
    T* states_ = nullptr;

    // Received blocks: the sums for branch u from plan.solve.contributors.ptr[u] on, or its solution.
    std::vector<Block> received_, solutions_;
    MessageRun messages_;

    // State of the current run.
    std::span<T* const> columns_;
    SweepPart part_ = SweepPart::whole;
    SparseBlock<T> const* sparse_ = nullptr;
    std::vector<std::int32_t> levels_; ///< Levels of the cblks in the tree, for a trace.
    SweepNumbers numbers_;             ///< Numbers of tasks and messages, for a trace.
    Index vectors_ = 0;
    bool moves_at_once_ = false; ///< Whether all rows are loaded before and stored after the tasks.
    bool stores_adjoint_ = false; ///< RowBlock::conjugated of the blocks in x_.
};

} // namespace espalier
