/* Memory on NUMA nodes. Pages are read back from the system; on one node, all of them are there. */
#include <string.h>

#include "check.h"

enum { page = 4096, most_nodes = 64 };

static int nodes[most_nodes];
static int64_t count;

/* Checks that all bytes are on the node, if the system gives their nodes. */
static void expect_on(void const* data, uint64_t bytes, int node) {
    uint64_t on_node[most_nodes], untouched = 1, unknown = 1, sum = 0;
    CHECK(espalier_query_nodes(data, bytes, most_nodes, on_node, &untouched, &unknown) == ESPALIER_OK);
    for (int n = 0; n < most_nodes; ++n) sum += on_node[n];
    CHECK(sum + untouched + unknown == bytes);
    if (unknown == 0) {
        CHECK(untouched == 0);
        CHECK(on_node[node] == bytes);
    }
}

static void ranges(void) {
    espalier_node_range wanted[most_nodes];
    for (int64_t k = 0; k < count; ++k) {
        wanted[k].bytes = 5 * page;
        wanted[k].node = nodes[k];
    }
    espalier_node_memory* memory = NULL;
    CHECK(espalier_node_memory_create(&memory, count, wanted) == ESPALIER_OK);
    char* const data = espalier_node_memory_data(memory);
    CHECK(data && data[5 * page * count - 1] == 0);
    if (!data) return;
    memset(data, 7, (size_t)(5 * page * count));
    for (int64_t k = 0; k < count; ++k) expect_on(data + 5 * page * k, 5 * page, nodes[k]);
    for (int64_t k = 0; k < count; ++k) { /* moves all pages to each node in turn */
        CHECK(espalier_move_to_node(data, (uint64_t)(5 * page * count), nodes[k]) == ESPALIER_OK);
        expect_on(data, (uint64_t)(5 * page * count), nodes[k]);
        CHECK(data[0] == 7 && data[5 * page * count - 1] == 7);
    }
    espalier_node_memory_destroy(&memory);
    CHECK(memory == NULL);
    espalier_node_memory_destroy(&memory);
    espalier_node_memory_destroy(NULL);
}

static void pieces(void) {
    espalier_node_memory* memory = NULL;
    CHECK(espalier_node_memory_distribute(&memory, (uint64_t)(2 * page * count), page) == ESPALIER_OK);
    char* const data = espalier_node_memory_data(memory);
    if (!data) return;
    memset(data, 1, (size_t)(2 * page * count));
    for (int64_t k = 0; k < 2 * count; ++k) expect_on(data + page * k, page, nodes[k % count]);
    espalier_node_memory_destroy(&memory);
    CHECK(espalier_node_memory_distribute(&memory, 0, 0) == ESPALIER_OK);
    CHECK(memory && espalier_node_memory_data(memory) == NULL);
    espalier_node_memory_destroy(&memory);
}

static void refusals(void) {
    char byte = 3;
    uint64_t here = 0;
    espalier_node_memory* memory = NULL;
    espalier_node_range const nowhere = {1, 1000};
    CHECK(espalier_memory_nodes(1, NULL, &count) == ESPALIER_USAGE);
    CHECK(espalier_memory_nodes(0, NULL, NULL) == ESPALIER_USAGE);
    CHECK(espalier_node_memory_create(&memory, 1, &nowhere) == ESPALIER_USAGE && memory == NULL);
    CHECK(espalier_node_memory_create(&memory, 1, NULL) == ESPALIER_USAGE);
    CHECK(espalier_node_memory_create(NULL, 0, NULL) == ESPALIER_USAGE);
    CHECK(espalier_node_memory_distribute(&memory, UINT64_C(1) << 60, 0) == ESPALIER_OUT_OF_MEMORY &&
          memory == NULL);
    CHECK(espalier_move_to_node(&byte, 1, 1000) == ESPALIER_USAGE);
    CHECK(espalier_move_to_node(NULL, 1, nodes[0]) == ESPALIER_USAGE);
    CHECK(espalier_query_nodes(NULL, 1, 1, &here, NULL, NULL) == ESPALIER_USAGE);
    CHECK(espalier_query_nodes(&byte, 1, 1, NULL, NULL, NULL) == ESPALIER_USAGE);
    CHECK(espalier_node_memory_data(NULL) == NULL);
}

void test_numa(void) {
    CHECK(espalier_memory_nodes(0, NULL, &count) == ESPALIER_OK && count >= 1);
    CHECK(espalier_memory_nodes(most_nodes, nodes, &count) == ESPALIER_OK);
    ranges();
    pieces();
    refusals();
}
