// Systems with more column blocks, groups of rows or tasks than 32-bit numbers can count. The limit is
// lowered here, because systems of a test do not reach it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "comm/thread_processes.hpp"
#include "core/id_limit.hpp"
#include "core/status_of.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

// Lowers the limit during its lifetime.
class LowerLimit {
  public:
    explicit LowerLimit(std::int32_t limit) { most_ids = limit; }
    ~LowerLimit() { most_ids = usual_; }

  private:
    std::int32_t usual_ = most_ids;
};

// The message of an analysis that is refused under the limit; empty if it is not. The processes agree.
std::string refusal(CscMatrix<double> const& a, Options const& options, int processes, std::int32_t limit) {
    LowerLimit const lower(limit);
    std::string on_root;
    run_processes(processes, [&](Communicator const& comm) {
        Solver<double> solver(options, comm);
        std::string message;
        Status const status = status_of([&] { solver.analyze(on_process_0(comm, a)); }, &message);
        EXPECT_EQ(status, message.empty() ? Status::ok : Status::unsupported) << message;
        if (comm.rank() == 0) on_root = message;
    });
    return on_root;
}

TEST(IdLimit, IsCheckedForColumnBlocksGroupsOfRowsAndTasks) {
    auto const a = generated<double>("lap3d:9");
    Options options = many_tasks(SchedulePolicy::dynamic_tree, Splitting::two_d, 2);
    options.min_block_width = options.split_width = options.split_rows = 1;
    options.max_block_width = 2; // more groups of rows than column blocks
    for (int const processes : {1, 3}) {
        std::set<std::string> refused;
        std::int32_t limit = 1;
        for (int attempt = 0; attempt < 90; ++attempt) {
            std::string const message = refusal(a, options, processes, limit);
            if (message.empty()) break;
            std::size_t const end = message.find(" exceed the limit of " + std::to_string(limit) + "; ");
            ASSERT_NE(end, std::string::npos) << message;
            std::istringstream words(message.substr(0, end));
            std::int64_t count = 0;
            std::string things;
            std::getline(words >> count >> std::ws, things);
            EXPECT_GT(count, limit) << message;
            refused.insert(things);
            limit += std::max(1, limit / 8);
        }
        EXPECT_EQ(refusal(a, options, processes, limit), "");
        EXPECT_EQ(refused, (std::set<std::string>{"column blocks", "groups of rows", "tasks"})) << processes;
    }
}

TEST(IdLimit, IsTheLargestCount) {
    auto const a = generated<double>("lap3d:6");
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 1);
    Solver<double> solver(options);
    solver.analyze(a);
    auto const blocks = static_cast<std::int32_t>(solver.report().analysis.cblks);
    EXPECT_NE(refusal(a, options, 1, blocks - 1)
                  .find(std::to_string(blocks) + " column blocks exceed the limit of " +
                        std::to_string(blocks - 1)),
              std::string::npos);
    EXPECT_EQ(refusal(a, options, 1, blocks).find("column blocks exceed"), std::string::npos);
}

} // namespace
} // namespace espalier
