/* Predictions, and traces of predictions and runs. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "problems.h"

#define USAGE(part, call) FAILS(solver, ESPALIER_USAGE, part, call)

static char const path[] = "c_traces_test.paje";

/* Checks that the file is a Paje trace that contains `text`, and removes it. */
static void expect_trace(char const* text) {
    FILE* const file = fopen(path, "rb");
    CHECK(file);
    if (!file) return;
    static char start[1 << 16];
    start[fread(start, 1, sizeof start - 1, file)] = '\0';
    CHECK(strncmp(start, "%EventDef", 9) == 0);
    CHECK(strstr(start, text));
    fclose(file);
    CHECK(remove(path) == 0);
}

static int is_near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void predictions(espalier_solver* solver) {
    espalier_prediction here = {0}, there = {0};
    double expected = 0;
    USAGE("before espalier_analyze", espalier_predict(solver, 1, 1, &here));
    USAGE("before espalier_analyze", espalier_write_predicted_trace(solver, path, 1, 1, NULL));
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_predict(solver, 1, 2, &here));
    CHECK(here.processes == 1 && here.threads == 2 && here.tasks > 0 && here.messages == 0);
    CHECK(here.comm_threads == 0 && here.communication_s == 0);
    CHECK(here.memory_bytes > 0 && here.memory_bytes == here.total_memory_bytes);
    CHECK(is_near(here.work_s + here.idle_s, 2 * here.factor_s));
    CHECK(is_near(here.efficiency, here.work_s / (2 * here.factor_s)));
    CHECK(here.critical_path_s > 0 && here.critical_path_s <= here.factor_s * (1 + 1e-12));
    OK(solver, espalier_report_real(solver, "analysis.predicted_factor_s", &expected));
    CHECK(is_near(here.factor_s, expected));
    OK(solver, espalier_report_real(solver, "analysis.predicted_solve_s", &expected));
    CHECK(expected > 0 && is_near(here.solve_s, expected));

    OK(solver, espalier_predict(solver, 3, 0, &there)); /* the cores of the topology */
    CHECK(there.processes == 3 && there.threads == 4);
    CHECK(there.messages > 0 && there.message_bytes > 0);
    CHECK(is_near(there.work_s + there.idle_s, 12 * there.factor_s));
    CHECK(there.memory_bytes < there.total_memory_bytes);
    CHECK(there.total_memory_bytes <= 3 * there.memory_bytes);
    CHECK(there.comm_threads == 1 &&
          there.communication_s == 0); /* communication threads have cores of their own */
    OK(solver, espalier_set_option(solver, "comm-threads", "0"));
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_predict(solver, 3, 0, &there)); /* workers move the messages */
    CHECK(there.comm_threads == 0 && there.communication_s > 0);
    CHECK(is_near(there.work_s + there.communication_s + there.idle_s, 12 * there.factor_s));
    OK(solver, espalier_set_option(solver, "comm-threads", "1"));
    OK(solver, espalier_analyze(solver));

    espalier_prediction const before = there;
    USAGE("prediction is null", espalier_predict(solver, 1, 1, NULL));
    USAGE("no workers", espalier_predict(solver, 0, 1, &there));
    USAGE("no workers", espalier_predict(solver, -1, 1, &there));
    USAGE("threads = -1", espalier_predict(solver, 1, -1, &there));
    USAGE("", espalier_predict(solver, 1 << 20, 2, &there));
    USAGE("", espalier_predict(solver, 1, 1 << 30, &there));
    CHECK(memcmp(&before, &there, sizeof there) == 0);
}

/* A caller that was compiled with another version of the header. */
static void versions(espalier_solver* solver) {
    espalier_prediction here = {0};
    here.struct_size = sizeof here;
    OK(solver, espalier_predict(solver, 1, 2, &here));
    CHECK(here.struct_size == sizeof here && here.tasks > 0);
    struct {
        espalier_prediction known;
        int64_t later;
    } longer = {.known = {.struct_size = sizeof longer}};
    OK(solver, espalier_predict(solver, 1, 2, &longer.known));
    CHECK(longer.known.tasks == here.tasks && longer.later == 0);
    longer.later = 1;
    FAILS(solver, ESPALIER_UNSUPPORTED, "does not know", espalier_predict(solver, 1, 2, &longer.known));
    here.struct_size = 8;
    USAGE("prediction.struct_size = 8", espalier_predict(solver, 1, 2, &here));
    here.struct_size = UINT64_MAX; /* as in an uninitialized variable */
    USAGE("struct_size", espalier_predict(solver, 1, 2, &here));
}

static void traces(espalier_solver* solver, problem const* p) {
    double b[100], x[100];
    for (int i = 0; i < p->n; ++i) b[i] = i;
    OK(solver, espalier_write_predicted_trace(solver, path, 2, 2, "grid 10 x 10"));
    expect_trace("grid 10 x 10");
    OK(solver, espalier_write_predicted_trace(solver, path, 2, 2, NULL));
    expect_trace("predicted");
    USAGE("record_trace", espalier_write_trace(solver, path, NULL));

    OK(solver, espalier_set_record_trace(solver, 1));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, p->n, x, p->n));
    CHECK(residual(p, 0, x, b) < 1e-11);
    USAGE("path is null", espalier_write_trace(solver, NULL, NULL));
    USAGE("empty", espalier_write_trace(solver, "", NULL));
    USAGE("path is null", espalier_write_predicted_trace(solver, NULL, 1, 1, NULL));
    USAGE("empty", espalier_write_predicted_trace(solver, "", 1, 1, NULL));
    USAGE("threads = -1", espalier_write_predicted_trace(solver, path, 1, -1, NULL));
    FAILS(solver, ESPALIER_IO_ERROR, "/nonexistent/t.paje",
          espalier_write_trace(solver, "/nonexistent/t.paje", NULL));
    FAILS(solver, ESPALIER_IO_ERROR, "/nonexistent/t.paje",
          espalier_write_predicted_trace(solver, "/nonexistent/t.paje", 1, 1, NULL));
    CHECK(fopen(path, "rb") == NULL);
    OK(solver, espalier_write_trace(solver, path, "grid 10 x 10")); /* the record is kept */
    expect_trace("grid 10 x 10");
}

/* The plan depends on the machine, so a new topology drops the analysis and the factors. */
static void another_topology(espalier_solver* solver) {
    espalier_prediction prediction = {0};
    double b[100] = {1}, x[100];
    OK(solver, espalier_factorize(solver));
    OK(solver, espalier_set_topology(solver, "numa:1 core:2"));
    USAGE("before espalier_analyze", espalier_predict(solver, 2, 0, &prediction));
    USAGE("before espalier_factorize", espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 100, x, 100));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 100, x, 100));
    OK(solver, espalier_predict(solver, 2, 0, &prediction));
    CHECK(prediction.threads == 2);
}

void test_traces(void);

void test_traces(void) {
    problem p = laplacian(10, 0);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = NULL;
    CHECK(espalier_create(&solver, ESPALIER_DOUBLE) == ESPALIER_OK);
    OK(solver, espalier_set_threads(solver, 2));
    OK(solver, espalier_set_topology(solver, "numa:2 core:2"));
    USAGE("before espalier_set_matrix", espalier_write_predicted_trace(solver, path, 1, 1, NULL));
    OK(solver, espalier_set_matrix(solver, &matrix));
    predictions(solver);
    versions(solver);
    traces(solver, &p);
    another_topology(solver);
    espalier_destroy(&solver);
    free_problem(&p);
}
