/* Where chains of waits end, for a few by hand, and for many at random by a search of their own. */
#include "emulator/check_cycle.h"

#include "tests/support/cmocka_all.h"

#include <stdint.h>
#include <string.h>

enum { MOST = 9 };

struct graph {
    size_t count;
    bool edge[MOST][MOST];
};

static bool edge(const void *user, size_t one, size_t other)
{
    const struct graph *graph = user;

    return graph->edge[one][other];
}

/* "ab bc" : a waits for b, and b for c. */
static void assert_ends(size_t count, const char *edges, const char *ends)
{
    struct graph graph = {.count = count};
    bool is_end[MOST] = {false};

    for (; *edges; edges += edges[2] ? 3 : 2)
        graph.edge[edges[0] - 'a'][edges[1] - 'a'] = true;
    assert_true(emu_find_ends(count, edge, &graph, is_end));
    for (size_t i = 0; i < count; i++)
        if (is_end[i] != (strchr(ends, (int)('a' + i)) != NULL))
            fail_msg("%c is %s end", (int)('a' + i), is_end[i] ? "an" : "no");
}

static void who_waits_for_nobody_is_an_end(void **state)
{
    (void)state;

    assert_ends(1, "", "a");
    assert_ends(3, "", "abc");
    assert_ends(3, "ab bc", "c");
    assert_ends(4, "ab ac ad", "bcd");
}

static void a_circle_that_nothing_leaves_is_an_end(void **state)
{
    (void)state;

    assert_ends(2, "ab ba", "ab");
    assert_ends(4, "ab bc ca da", "abc");
    assert_ends(4, "ab ba ac cd", "d");       /* it is left          */
    assert_ends(5, "ab ba cd dc ec", "abcd"); /* two of them         */
    assert_ends(5, "ab bc cb ca cd de ed", "de");
    assert_ends(2, "aa ab", "b");
}

static void mark(const struct graph *graph, size_t from, bool *seen)
{
    for (size_t to = 0; to < graph->count; to++)
        if (graph->edge[from][to] && !seen[to]) {
            seen[to] = true;
            mark(graph, to, seen);
        }
}

static void ends_are_those_of_a_search(void **state)
{
    (void)state;
    uint32_t random = 1;

    for (int round = 0; round < 3000; round++) {
        struct graph graph = {.count = 1 + (size_t)round % MOST};
        bool is_end[MOST], seen[MOST][MOST] = {{false}};

        for (size_t i = 0; i < graph.count * graph.count; i++) {
            random = random * 1664525u + 1013904223u;
            graph.edge[i / graph.count][i % graph.count] = random >> 24 < 40 + (unsigned)round % 60;
        }
        assert_true(emu_find_ends(graph.count, edge, &graph, is_end));
        for (size_t i = 0; i < graph.count; i++)
            mark(&graph, i, seen[i]);
        for (size_t i = 0; i < graph.count; i++) {
            bool want = true;

            for (size_t j = 0; j < graph.count; j++)
                want = want && (!seen[i][j] || seen[j][i]);
            assert_int_equal(is_end[i], want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_nobody_is_an_end),
        cmocka_unit_test(a_circle_that_nothing_leaves_is_an_end),
        cmocka_unit_test(ends_are_those_of_a_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
