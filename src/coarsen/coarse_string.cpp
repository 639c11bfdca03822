#include "coarsen/coarse_string.hpp"

#include <charconv>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "coarsen/operators.hpp"
#include "coarsen/pipeline.hpp"
#include "coarsen/super_steps.hpp"
#include "core/error.hpp"
#include "core/one_line.hpp"

namespace espalier {

namespace {

constexpr Index largest_argument = std::numeric_limits<std::int32_t>::max();

/// The text that names a character in a message. A byte that is not printable ASCII is named by its number.
std::string in_message(char letter) {
    bool const is_printable = letter >= ' ' && letter <= '~';
    return is_printable ? fmt::format("'{}'", letter)
                        : fmt::format("the byte 0x{:02X}", static_cast<unsigned char>(letter));
}

void require_capital(char letter) {
    if (letter < 'A' || letter > 'Z')
        throw Error(Status::usage, fmt::format("{} cannot name a coarse operator; a capital letter is needed",
                                               in_message(letter)));
}

/// Reads a coarse string from left to right.
class Parser {
  public:
    Parser(std::string_view text, CoarseOperators const& operators) : text_(text), operators_(operators) {}

    std::vector<CoarseStep> run() {
        if (text_.empty()) reject("an operator is missing; the operators are {}", operators_.letters());
        std::vector<CoarseStep> steps;
        while (at_ < text_.size()) steps.push_back(step());
        return steps;
    }

  private:
    CoarseStep step() {
        char const letter = text_[at_];
        auto const* entry = operators_.find(letter);
        if (entry == nullptr)
            reject("{} is not an operator; the operators are {}", in_message(letter), operators_.letters());
        ++at_;
        bool const has_argument = at_ < text_.size() && text_[at_] == '(';
        if (!has_argument) {
            if (entry->argument == CoarseArgument::required)
                reject("{} needs a number in parentheses, as in {}(4)", letter, letter);
            return {letter, {}};
        }
        if (entry->argument == CoarseArgument::none) reject("{} takes no number", letter);
        return {letter, argument()};
    }

    Index argument() {
        ++at_; // the opening parenthesis
        char const* const begin = text_.data() + at_;
        char const* const end = text_.data() + text_.size();
        Index value = 0;
        auto const [after, error] = std::from_chars(begin, end, value);
        bool const in_range = error == std::errc() && value >= 1 && value <= largest_argument;
        if (!in_range) reject("a number in 1 .. {} is expected", largest_argument);
        at_ += after - begin;
        if (at_ == text_.size() || text_[at_] != ')') reject("')' is expected");
        ++at_;
        return value;
    }

    template <class... Args>
    [[noreturn]] void reject(fmt::format_string<Args const&...> what, Args const&... args) const {
        throw Error(Status::usage,
                    fmt::format("coarse string '{}', position {}: ", in_ascii(text_), at_ + 1) +
                        fmt::format(what, args...));
    }

    std::string_view text_;
    CoarseOperators const& operators_;
    std::size_t at_ = 0;
};

/// The operators that programs have added by add_coarse_operator().
struct ProgramOperators {
    std::mutex mutex;
    std::map<char, CoarseOperators::Entry> added;
};
ProgramOperators& operators_of_the_program() {
    static ProgramOperators operators;
    return operators;
}

std::string spelled(CoarseStep const& step) {
    return step.argument ? fmt::format("{}({})", step.letter, *step.argument) : std::string(1, step.letter);
}

} // namespace

CoarseOperators CoarseOperators::standard(Interrupt* interrupt) {
    CoarseOperators operators;
    using Argument = std::optional<Index>;
    operators.add('S', CoarseArgument::none,
                  [](TaskGraph const& graph, Argument) { return aggregate_chains(graph); });
    operators.add('F', CoarseArgument::required,
                  [](TaskGraph const& graph, Argument parts) { return aggregate_fronts(graph, *parts); });
    operators.add('D', CoarseArgument::required, [interrupt](TaskGraph const& graph, Argument descendants) {
        return aggregate_descendants(graph, *descendants, interrupt);
    });
    operators.add('C', CoarseArgument::optional, [](TaskGraph const& graph, Argument length) {
        return aggregate_continuations(graph, length.value_or(largest_argument));
    });
    operators.add('B', CoarseArgument::required,
                  [](TaskGraph const& graph, Argument length) { return aggregate_blocks(graph, *length); });
    operators.add('T', CoarseArgument::required,
                  [](TaskGraph const& graph, Argument largest) { return aggregate_trees(graph, *largest); });
    operators.add('H', CoarseArgument::required, [interrupt](TaskGraph const& graph, Argument cores) {
        return aggregate_hdagg(graph, *cores, interrupt);
    });
    operators.add('G', CoarseArgument::required, [interrupt](TaskGraph const& graph, Argument cores) {
        return aggregate_grow_local(graph, *cores, interrupt);
    });
    operators.add('W', CoarseArgument::required,
                  [](TaskGraph const& graph, Argument cores) { return aggregate_pipeline(graph, *cores); });
    auto& [mutex, added] = operators_of_the_program();
    std::scoped_lock const lock(mutex);
    for (auto const& [letter, entry] : added) operators.add(letter, entry.argument, entry.apply);
    return operators;
}

void add_coarse_operator(char letter, CoarseArgument argument, UserCoarseOperator apply) {
    require_capital(letter);
    if (!apply) throw Error(Status::usage, fmt::format("coarse operator {}: the function is empty", letter));
    CoarseOperator on_graph = [apply = std::move(apply)](TaskGraph const& graph,
                                                         std::optional<Index> number) {
        return apply({graph.successor_ptr, graph.successors, graph.cost}, number);
    };
    auto& [mutex, added] = operators_of_the_program();
    std::scoped_lock const lock(mutex);
    added.insert_or_assign(letter, CoarseOperators::Entry{argument, std::move(on_graph)});
}

void CoarseOperators::add(char letter, CoarseArgument argument, CoarseOperator apply) {
    require_capital(letter);
    entries_[letter] = {argument, std::move(apply)};
}

CoarseOperators::Entry const* CoarseOperators::find(char letter) const {
    auto const found = entries_.find(letter);
    return found == entries_.end() ? nullptr : &found->second;
}

std::string CoarseOperators::letters() const {
    std::string list;
    for (auto const& [letter, entry] : entries_) {
        if (!list.empty()) list += ", ";
        list += letter;
    }
    return list;
}

std::vector<CoarseStep> parse_coarse_string(std::string_view text, CoarseOperators const& operators) {
    return Parser(text, operators).run();
}

CoarseGraph coarsen(TaskGraph const& graph, std::string_view text, CoarseOperators const& operators,
                    Interrupt* interrupt) {
    auto const steps = parse_coarse_string(text, operators);
    check_fine_graph(graph);
    CoarseGraph coarse;
    Aggregation aggregate_of;
    for (auto const& step : steps) {
        check(interrupt);
        TaskGraph const& fine = aggregate_of.empty() ? graph : coarse.graph;
        auto aggregation = operators.find(step.letter)->apply(fine, step.argument);
        check(interrupt);
        coarse = quotient_graph(fine, std::move(aggregation), "coarse operator " + spelled(step));
        if (aggregate_of.empty())
            aggregate_of = coarse.aggregate_of;
        else
            for (TaskId& aggregate : aggregate_of) aggregate = coarse.aggregate_of[aggregate];
    }
    if (steps.size() == 1) return coarse;
    return with_parts(std::move(coarse), std::move(aggregate_of));
}

AggregateBody parts_in_order(std::function<void(TaskId, WorkerId)> body) {
    return [body = std::move(body)](std::span<TaskId const> parts, WorkerId worker) {
        for (TaskId const part : parts) body(part, worker);
    };
}

std::function<void(TaskId, WorkerId)> coarse_body(CoarseGraph const& coarse, AggregateBody body) {
    return [&coarse, body = std::move(body)](TaskId aggregate, WorkerId worker) {
        body(coarse.parts_of(aggregate), worker);
    };
}

} // namespace espalier
