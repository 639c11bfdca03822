#include "coarsen/coarse_string.hpp"

#include <gtest/gtest.h>

#include "coarsen/grids.hpp"
#include "coarsen/operators.hpp"

namespace espalier {
namespace {

template <class Call> std::string message_of(Call const& call) {
    std::string message;
    status_of(call, &message);
    return message;
}

TEST(CoarseString, IsAChainOfOperators) {
    EXPECT_EQ(parse_coarse_string("SD(300)F(32)"),
              (std::vector<CoarseStep>{{'S', {}}, {'D', 300}, {'F', 32}}));
    EXPECT_EQ(parse_coarse_string("CD(4)"), (std::vector<CoarseStep>{{'C', {}}, {'D', 4}}));
    EXPECT_EQ(parse_coarse_string("C(2147483647)"), (std::vector<CoarseStep>{{'C', 2147483647}}));
}

TEST(CoarseString, NamesTheBadPlace) {
    struct Case {
        char const *text, *message;
    };
    for (auto const& [text, message] : {
             Case{"", "position 1: an operator is missing; the operators are B, C, D, F, G, H, S, T, W"},
             Case{"SX(3)", "position 2: 'X' is not an operator; the operators are B, C, D, F, G, H, S"},
             Case{"s", "position 1: 's' is not an operator"},
             Case{"SD", "position 3: D needs a number in parentheses, as in D(4)"},
             Case{"DS", "position 2: D needs a number"},
             Case{"S(3)", "position 2: S takes no number"},
             Case{"D()", "position 3: a number in 1 .. 2147483647 is expected"},
             Case{"D(0)", "position 3: a number in 1 .. 2147483647 is expected"},
             Case{"D(-4)", "position 3: a number"},
             Case{"SF(2147483648)", "position 4: a number"},
             Case{"F(99999999999999999999)", "position 3: a number"},
             Case{"D(4", "position 4: ')' is expected"},
             Case{"D(4;", "position 4: ')' is expected"},
             Case{"D(4) F(2)", "position 5: ' ' is not an operator"},
         })
        EXPECT_TRUE(contains(message_of([&, text = text] { (void)parse_coarse_string(text); }),
                             std::string("coarse string '") + text + "', " + message));
}

TEST(CoarseString, MessagesAreInAscii) {
    auto const message = [](std::string_view text) {
        return message_of([&] { (void)parse_coarse_string(text); });
    };
    EXPECT_TRUE(contains(
        message("S\u00e9D(2)"),
        "coarse string 'S??D(2)', position 2: the byte 0xC3 is not an operator; the operators are B, "));
    EXPECT_TRUE(contains(
        message({"S\0(3)", 5}),
        "coarse string 'S?(3)', position 2: the byte 0x00 is not an operator; the operators are B, "));
    EXPECT_TRUE(contains(message("D(\u00e9)"), "coarse string 'D(?\?)', position 3: a number in "));
    EXPECT_EQ(message_of([] { CoarseOperators().add('\xe9', CoarseArgument::none, nullptr); }),
              "the byte 0xE9 cannot name a coarse operator; a capital letter is needed");
    EXPECT_EQ(message_of([] { add_coarse_operator('\xe9', CoarseArgument::none, nullptr); }),
              "the byte 0xE9 cannot name a coarse operator; a capital letter is needed");
}

TEST(Coarsen, AppliesOperatorsFromLeftToRight) {
    auto const grid = grid_tasks(4, 4);
    // C: four lines of four cells, which form a chain. D(1): pairs of lines.
    auto const coarse = coarsen(grid, "CD(1)");
    expect_coarse(grid, coarse);
    EXPECT_EQ(coarse.aggregate_of, (Aggregation{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(coarse.graph.cost, (std::vector<double>{8, 8}));
    // The other way round: D(1) cuts the lines into pairs, and C joins consecutive pairs.
    expect_coarse(grid, coarsen(grid, "D(1)C"));
}

TEST(Coarsen, ChainsMakeCoarseGraphsOfRandomGraphs) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        auto const graph = graph_of(250, random_edges(250, 2, seed));
        for (char const* text :
             {"SD(300)F(32)", "SF(3)D(2)S", "CD(4)", "D(3)D(3)C(2)", "G(2)D(2)", "SH(3)S", "B(2)T(25)G(2)"})
            expect_coarse(graph, coarsen(graph, text));
    }
}

TEST(Coarsen, KeepsExternalPredecessors) {
    auto graph = graph_of(4, {{0, 1}, {2, 3}});
    graph.num_predecessors[1] += 2;
    graph.num_predecessors[2] += 1;
    auto const coarse = coarsen(graph, "S");
    EXPECT_EQ(coarse.graph.num_predecessors, (std::vector<std::int32_t>{2, 1}));
}

TEST(Coarsen, AcceptsOperatorsOfTheUser) {
    auto operators = CoarseOperators::standard();
    // Planes of a 3 x 3 x n grid, numbered from the last to the first.
    operators.add('P', CoarseArgument::required, [](TaskGraph const& graph, std::optional<Index> size) {
        Aggregation aggregation;
        auto const planes = graph.num_tasks() / static_cast<TaskId>(*size);
        for (TaskId t = 0; t < graph.num_tasks(); ++t)
            aggregation.push_back(planes - 1 - t / static_cast<TaskId>(*size));
        return aggregation;
    });
    auto const grid = grid_tasks(3, 3, 4);
    auto const coarse = coarsen(grid, "P(9)", operators);
    expect_coarse(grid, coarse); // renumbered
    EXPECT_EQ(coarse.graph.num_tasks(), 4);
    EXPECT_EQ(coarse.parts_of(0).front(), 0);
    EXPECT_THROW(operators.add('p', CoarseArgument::none, nullptr), Error);
}

TEST(Coarsen, CanBeCancelledDuringAndAfterAnOperator) {
    auto const graph = graph_of(250, random_edges(250, 2, 1));
    for (char const* text : {"D(3)", "H(2)", "G(2)"}) {
        Interrupt interrupt;
        auto const operators = CoarseOperators::standard(&interrupt);
        interrupt.request();
        EXPECT_EQ(status_of([&] { (void)coarsen(graph, text, operators); }), Status::cancelled);
    }
    Interrupt interrupt;
    auto operators = CoarseOperators::standard();
    int calls = 0;
    operators.add('U', CoarseArgument::none, [&](TaskGraph const& fine, auto) {
        ++calls;
        interrupt.request();
        return aggregate_blocks(fine, 2);
    });
    EXPECT_EQ(status_of([&] { (void)coarsen(graph, "UU", operators, &interrupt); }), Status::cancelled);
    EXPECT_EQ(calls, 1);
}

TEST(Coarsen, RefusesBadAggregationsOfTheUser) {
    auto const chain = graph_of(3, chain_edges(3));
    auto const message = [&](Aggregation const& aggregation) {
        auto operators = CoarseOperators::standard();
        operators.add('U', CoarseArgument::optional, [&](TaskGraph const&, auto) { return aggregation; });
        return message_of([&] { (void)coarsen(chain, "U(7)", operators); });
    };
    EXPECT_EQ(message({0, 0}), "coarse operator U(7): 2 entries for 3 tasks");
    EXPECT_EQ(message({0, 3, 0}), "coarse operator U(7): task 1 is in aggregate 3, which is outside 0 .. 2");
    EXPECT_EQ(message({0, -1, 0}),
              "coarse operator U(7): task 1 is in aggregate -1, which is outside 0 .. 2");
    EXPECT_EQ(message({0, 2, 2}), "coarse operator U(7): aggregate 1 has no task");
    EXPECT_EQ(message({0, 1, 0}), "coarse operator U(7): aggregates depend on each other in a cycle, which "
                                  "stops aggregate 0");
}

TEST(Coarsen, RefusesGraphsItCannotCoarsen) {
    auto const backwards = graph_of(3, {{2, 1}});
    EXPECT_EQ(message_of([&] { (void)coarsen(backwards, "S"); }),
              "task graph: task 2 has the successor 1; successors need higher numbers, below 3");
    auto exclusive = graph_of(1, {});
    exclusive.resource = {0};
    exclusive.num_resources = 1;
    EXPECT_EQ(status_of([&] { (void)coarsen(exclusive, "S"); }), Status::unsupported);
}

TEST(Coarsen, CoarseTasksRunTheirPartsInOrder) {
    auto const grid = grid_tasks(20, 20, 5);
    auto const coarse = coarsen(grid, "CD(4)");
    for (int const size : {1, 2, 4}) {
        WorkerTeam team(machine(), size);
        FifoPolicy policy(size);
        std::vector<int> depth(grid.num_tasks(), 0);
        auto const body = parts_in_order([&](TaskId cell, WorkerId) {
            auto const x = cell % 20, y = cell / 20 % 20, z = cell / 400;
            if (x > 0) depth[cell] = depth[cell - 1] + 1;
            if (y > 0) depth[cell] = std::max(depth[cell], depth[cell - 20] + 1);
            if (z > 0) depth[cell] = std::max(depth[cell], depth[cell - 400] + 1);
        });
        team.run(coarse.graph, policy, coarse_body(coarse, body));
        for (TaskId cell = 0; cell < grid.num_tasks(); ++cell)
            ASSERT_EQ(depth[cell], cell % 20 + cell / 20 % 20 + cell / 400);
    }
}

TEST(Coarsen, ABodyOfTheUserGetsAllPartsAtOnce) {
    auto const grid = grid_tasks(6, 6);
    auto const coarse = coarsen(grid, "C");
    WorkerTeam team(machine(), 2);
    FifoPolicy policy(2);
    std::vector<std::size_t> lengths(coarse.graph.num_tasks(), 0);
    team.run(coarse.graph, policy, coarse_body(coarse, [&](std::span<TaskId const> parts, WorkerId) {
                 lengths[parts.front() / 6] = parts.size();
             }));
    EXPECT_EQ(lengths, std::vector<std::size_t>(6, 6));
}

} // namespace
} // namespace espalier
