// The commands: each takes its parsed options, prints, writes its files, and throws espalier::Error for
// whatever ends it otherwise.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "options.hpp"

namespace espalier::command {

struct GenerateOptions {
    std::vector<std::string> spec; ///< "lap3d", "20", or "lap3d:20": joined by colons.
    std::string output = "-";
    bool quiet = false;
};

struct MachineOptions {
    Index dgemm_order = 1000;
    std::string json;
    bool quiet = false;
};

void add_generate_options(CLI::App& command, GenerateOptions& options);
void add_machine_options(CLI::App& command, MachineOptions& options);

void solve(RunOptions const& options);
void analyze(RunOptions const& options);
void generate(GenerateOptions const& options);
void machine(MachineOptions const& options);

} // namespace espalier::command
