// `espalier compare`: the same work under several settings in one run.
#include <algorithm>
#include <new>
#include <set>

#include <fmt/format.h>

#include "machine/machine_file.hpp"
#include "record.hpp"
#include "runtime/topology.hpp"
#include "tools/command/common/numbers.hpp"
#include "tools/command/common/output_file.hpp"
#include "tools/command/common/progress_bar.hpp"
#include "tools/command/common/subcommand.hpp"
#include "tools/command/solve/problem.hpp"

namespace espalier::command {

namespace {

std::string machine_name(CompareOptions const& options) {
    if (options.is_simulated()) return options.simulate;
    Topology const here = Topology::detect();
    std::string const name = here.machine_name().empty() ? "this machine" : here.machine_name();
    return fmt::format("{}{}{}, {}", name, here.cpu_model().empty() ? "" : ", ", here.cpu_model(),
                       counted(here.num_cores(), "core"));
}

// Errors of a machine are thrown before the matrix is read.
void require_machines(CompareOptions const& options, std::vector<CompareCase> const& cases) {
    if (options.is_simulated()) static_cast<void>(find_machine(options.simulate));
    std::set<std::string> topologies;
    for (CompareCase const& one : cases)
        if (!one.run.library.topology.empty()) topologies.insert(one.run.library.topology);
    for (std::string const& topology : topologies) static_cast<void>(Topology::named(topology));
}

[[noreturn]] void fail(CompareRecord const& record) {
    auto const failed =
        std::ssize(record.rows) - std::ranges::count(record.rows, Status::ok, &CompareRow::status);
    CompareRow const& first = *record.first_failure();
    throw Error(first.status,
                fmt::format("{} of {} failed{}: {}: {}", failed, counted(record.rows.size(), "case"),
                            failed > 1 ? ", first" : "", first.name(record.asked.vary), first.message));
}

void compare(CompareOptions const& options) {
    OutputFile const csv(options.csv), json(options.run.json), picture(options.picture);
    std::vector<CompareCase> cases = compare_cases(options);
    require_machines(options, cases);
    CompareRecord record;
    record.asked = options;
    record.machine = machine_name(options);
    for (CompareCase const& one : cases) {
        record.rows.emplace_back();
        record.rows.back().values = one.values;
    }
    {
        ProgressBar progress(!options.run.quiet && stderr_shows_bars(),
                             options.prints() && !(stderr_shows_bars() && stdout_is_terminal()));
        AnyMatrix matrix;
        std::tie(matrix, record.matrix) = load_matrix(options.run, &progress);
        record.scalar = run_scalar(options.run, record.matrix);
        if (options.prints()) print(matrix_text(record.matrix));
        if (options.is_simulated())
            simulate_cases(record, cases, std::move(matrix), progress);
        else
            measure_cases(record, std::move(cases), std::move(matrix), progress);
    }
    if (options.prints())
        print(fmt::format("{:<16}{}\n\n{}", options.is_simulated() ? "simulated" : "machine", record.machine,
                          compare_text(record)));
    if (csv) csv.write_text(compare_csv(record));
    if (json) json.write_text(compare_json(record));
    if (picture) picture.write_text(compare_picture(record, options.picture.ends_with(".svg")));
    if (record.first_failure()) fail(record);
}

} // namespace

bool attempt(CompareRow& row, std::function<void()> const& body) {
    try {
        body();
        return true;
    } catch (Error const& e) {
        if (e.status() == Status::cancelled) throw;
        row.status = e.status();
        row.message = e.what();
    } catch (std::bad_alloc const&) {
        row.status = Status::out_of_memory;
        row.message = "out of memory";
    }
    return false;
}

Subcommand compare_command() {
    return make_subcommand<CompareOptions>(
        "compare", "run the same work under several settings and print a table", compare_help,
        declare_compare, [](CompareOptions const& options) { check(options); }, compare);
}

} // namespace espalier::command
