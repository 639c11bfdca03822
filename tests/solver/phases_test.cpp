// The phases of a solver, each by itself: an analysis, the numeric factor of a plan, refinement with given
// factors.
#include <gtest/gtest.h>

#include <numeric>

#include "core/scalar.hpp"
#include "distributed/backward_error.hpp"
#include "machine/machine_file.hpp"
#include "solver/analysis.hpp"
#include "solver/numeric_factor.hpp"
#include "solver/predictions.hpp"
#include "solver/refiner.hpp"

#include "comm/thread_processes.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

Options small_blocks() {
    Options options = on_threads(1);
    options.max_block_width = 16;
    options.min_block_width = 8;
    options.calibration = Toggle::off;
    return options;
}

// What a solver does around the phases.
class Phases {
  public:
    Phases(Communicator const& comm, CscMatrix<double> const& matrix, Options const& options = small_blocks())
        : context_("", comm), options_(options), matrix_(matrix), factor_(context_) {
        context_.set_threads(1, false);
        context_.begin_call(options_);
    }

    void analyze() {
        std::vector<std::string> notes;
        if (context_.is_root())
            analysis_ = espalier::analyze(matrix_, options_,
                                          {machine_model(context_.topology(), context_.comm().size(), 1),
                                           context_.shared_interrupt(), context_.background(), nullptr,
                                           [&](std::string note) { notes.push_back(std::move(note)); }});
        EXPECT_EQ(notes.size(), context_.is_root() ? 1u : 0u); // the choice of the factorization
        if (context_.is_alone()) {
            factor_.set_plan(analysis_.structure, analysis_.plan);
        } else {
            owners_ = analysis_.plans.process_of_cblk;
            part_ = deal_plans(context_.comm(), std::move(analysis_.plans));
            factor_.set_plan(part_.structure, part_.plan);
        }
    }

    std::vector<FactorResult> factorize(bool narrow = false) {
        factor_.set_assembly(matrix_, analysis_.structure, owners_);
        return factor_.factorize(matrix_, {.form = {Factorization::llh}}, narrow);
    }

    [[nodiscard]] DistributedRows rows() const {
        return context_.is_alone() ? DistributedRows(matrix_.cols)
                                   : DistributedRows(context_.comm(), part_.structure.unknowns);
    }

    ProcessContext& context() { return context_; }
    Analysis<double>& analysis() { return analysis_; }
    NumericFactor<double>& factor() { return factor_; }

  private:
    ProcessContext context_;
    Options options_;
    CscMatrix<double> matrix_; // process 0
    Analysis<double> analysis_;
    ProcessPart part_;
    std::vector<std::int32_t> owners_;
    NumericFactor<double> factor_;
};

TEST(AnalysisPhase, DescribesTheFactorsBeforeAnyIsMade) {
    Phases phases({}, generated<double>("lap3d:7"));
    phases.analyze();
    Analysis<double> const& analysis = phases.analysis();
    EXPECT_EQ(analysis.form.kind, Factorization::llh);
    EXPECT_TRUE(analysis.system.is_identity());
    EXPECT_EQ(analysis.structure.n, 343);
    AnalysisReport report;
    analysis.fill(report);
    EXPECT_EQ(report.cblks, analysis.structure.num_cblks());
    EXPECT_GT(report.memory_bytes, report.factor_bytes);
    EXPECT_EQ(report.memory_bytes_of_process.size(), 1u);
    EXPECT_EQ(predict(analysis, phases.context().topology(), 4, 2, nullptr, {}).process.size(), 4u);
}

TEST(NumericFactorPhase, SolvesOnTheRowsOfEachProcess) {
    for (int const processes : {1, 3})
        for (bool const narrow : {false, true})
            run_processes(processes, [&](Communicator const& comm) {
                Phases phases(comm, on_process_0(comm, generated<double>("lap3d:7")));
                phases.analyze();
                auto const results = phases.factorize(narrow);
                EXPECT_EQ(std::ssize(results), comm.rank() == 0 ? comm.size() : 0);
                EXPECT_EQ(phases.factor().is_narrow(), narrow);
                EXPECT_EQ(phases.factor().inertia(), (Inertia{343, 0, 0}));
                DistributedRows const rows = phases.rows();
                std::vector<double> x(rows.count(), 1);
                phases.factor().solve(x, 1, MatrixOp::none);
                // A x = b against the whole matrix.
                auto const whole = generated<double>("lap3d:7");
                std::vector<double> own(whole.cols, 0);
                for (Index l = 0; l < rows.count(); ++l) own[rows.number(l)] = x[l];
                sum(comm, std::span<double>(own));
                std::vector<double> const b(whole.cols, 1);
                EXPECT_LE(normwise_backward_error<double>(whole, own, b), narrow ? 1e-6 : 1e-15);
            });
}

TEST(NumericFactorPhase, ForgetsFactorsOfAnotherPrecision) {
    Phases phases({}, generated<double>("lap3d:5"));
    phases.analyze();
    phases.factorize(true);
    EXPECT_TRUE(phases.factor().is_narrow());
    phases.factorize(false);
    EXPECT_FALSE(phases.factor().is_narrow());
}

TEST(RefinerPhase, ImprovesSolutionsOfFactorsInLowerPrecision) {
    for (int const processes : {1, 3})
        run_processes(processes, [&](Communicator const& comm) {
            auto const matrix = on_process_0(comm, generated<double>("lap3d:7"));
            Phases phases(comm, matrix);
            phases.analyze();
            phases.factorize(true);
            SystemVectors<double> vectors(phases.context(), phases.rows());
            vectors.set_system({});
            Refiner<double> refiner(phases.context(), phases.factor(), vectors);
            refiner.set_matrix(matrix);
            EXPECT_FALSE(refiner.is_suspicious(0, epsilon<float>));
            EXPECT_GT(refiner.reciprocal_condition(), 1e-3);
            std::vector<double> const b(vectors.rows().count(), 1);
            std::vector<double> x = b;
            refiner.apply_inverse(x, 1, MatrixOp::none);
            RefineReport const report = refiner.refine(b, x, 1, {.method = RefineMethod::ir});
            EXPECT_TRUE(report.converged);
            EXPECT_GT(report.history.front(), 1e-10);
            EXPECT_LE(report.backward_error, 1e-15);
        });
}

TEST(SystemVectorsPhase, MoveRowsToTheirOwnersAndBack) {
    run_processes(3, [](Communicator const& comm) {
        Phases phases(comm, on_process_0(comm, generated<double>("lap3d:5")));
        phases.analyze();
        SystemVectors<double> vectors(phases.context(), phases.rows());
        vectors.set_system({});
        for (bool const on_root : {true, false}) {
            Index const given = !on_root ? (comm.rank() == 1 ? 125 - 60 : 30) : comm.rank() == 0 ? 125 : 0;
            Index const first = on_root || comm.rank() == 0 ? 0 : comm.rank() == 1 ? 30 : 95;
            vectors.set_callers_rows(given);
            std::vector<double> b(2 * given);
            for (Index j = 0; j < 2; ++j)
                std::iota(b.begin() + j * given, b.begin() + (j + 1) * given, first + 1000 * j);
            auto const own = vectors.right_hand_sides(b, 2, MatrixOp::none);
            Index const count = vectors.rows().count();
            for (Index l = 0; l < count; ++l) {
                EXPECT_EQ(own[l], vectors.rows().number(l));
                EXPECT_EQ(own[count + l], 1000 + vectors.rows().number(l));
            }
            std::vector<double> back(b.size(), -1);
            vectors.return_solutions(own, back, 2, MatrixOp::none);
            EXPECT_EQ(back, b);
        }
    });
}

} // namespace
} // namespace espalier
