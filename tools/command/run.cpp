#include "run.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "runtime/process_limits.hpp"

namespace espalier::command {

namespace {

std::optional<OutputFile> file_if_named(std::string const& path) {
    return path.empty() ? std::nullopt : std::optional<OutputFile>(path);
}

void print(std::string const& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

} // namespace

Run::Run(RunOptions const& options)
    : record_{.asked = options,
              .matrix = {},
              .blas = blas_info(),
              .report = {},
              .knowledge = {},
              .null_space = {},
              .prediction = {},
              .simulation = {}},
      json_file_(file_if_named(options.json)), solution_file_(file_if_named(options.output)),
      null_space_file_(file_if_named(options.null_space)), trace_file_(file_if_named(options.trace)),
      progress_(!options.quiet && stderr_shows_bars(),
                options.prints() && !(stderr_shows_bars() && stdout_is_terminal())) {
    std::tie(matrix_, record_.matrix) = load_matrix(options, &progress_);
    record_.read_s = clock_.seconds();
    record_.report.scalar = run_scalar(options, record_.matrix);
    if (options.prints() && options.verbose) print(settings_text(record_));
    if (options.prints()) print(matrix_text(record_.matrix));
}

Options Run::library_options() {
    Options options = record_.asked.library;
    options.progress = &progress_;
    if (record_.asked.verbose && record_.asked.prints())
        options.log = [](std::string_view line) { print(fmt::format("  {}\n", line)); };
    return options;
}

void Run::stop_clock() {
    record_.total_s = clock_.seconds();
    record_.report.peak_memory_bytes = peak_rss_bytes();
}

void Run::print_results() const {
    if (record_.asked.prints()) print(results_text(record_));
}

void Run::write_json() const {
    if (json_file_) json_file_->write_text(json_report(record_));
}

} // namespace espalier::command
