/* The model: a CTA's time a step of k is what its busiest resource needs, tiles come in waves, and
 * the memory's time stands beside. The numbers were fitted to 950 timings of plans of this kernel
 * over 42 shapes on an H200 (docs/planning.md); they are cycles of 1.7 GHz and serve to order
 * plans, not to predict a clock that the power limit sets. Over those timings the plan that the
 * model likes best is 4 % slower than the best measured one in the geometric mean. */
#include "templates/gemm_sm90_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* Doubles are used for + - * / and sqrt alone, which IEEE 754 rounds the same everywhere. */
static const double CYCLES_A_US = 1700;
static const double MMA_SLOWER = 1.105;     /* than the tensor cores' peak                       */
static const double STEP_LEAST = 250;       /* barrier, issue and wait of one step               */
static const double STEP_MORE = 36;         /* what a step costs beside its MMAs                 */
static const double MMA_A_ROWS = 21.5;      /* reading 64 rows of A from shared memory           */
static const double SM_BYTES = 100;         /* that TMA brings to one SM per cycle               */
static const double SHARED_BYTES = 64;      /* ... in a cluster, some of them by multicast      */
static const double L2_BYTES = 100 * 132.0; /* that L2 gives to all SMs per cycle                 */
static const double L2_ENERGY = 0.0006;     /* cycles a byte: power that is not left for MMAs    */
static const double LATENCY = 2560;         /* from a free stage to a full one                   */
static const double HBM_BYTES = 2535;       /* a cycle: 4.3 TB/s                                 */
static const double HBM_WAVE = 70;
static const double TILE = 400;          /* between two tiles of a CTA                        */
static const double STORE = 0.028;       /* a byte of D                                       */
static const double STORE_ALONE = 0.054; /* with one consumer, which does not multiply then   */
static const double LAUNCH = 3950;
static const double NS_MOST = 9e18; /* that a plan tells */

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Clusters that run at one time. GPCs have 16 or 18 multiprocessors: pairs always find room, on an
 * H200 there are 30 places for four CTAs and 15 for eight (cuOccupancyMaxActiveClusters). */
static double places(const struct lathe_plan *plan)
{
    int ctas = plan->cluster[0] * plan->cluster[1];

    if (ctas <= 2)
        return plan->sms / ctas > 0 ? plan->sms / ctas : 1;
    return larger(1, (double)(plan->sms * 10 / (11 * ctas)));
}

/* What one step of k of one CTA waits for most, while `active` CTAs run. */
struct step {
    double cycles;
    const char *bound;
};

static void wait_for(struct step *step, double cycles, const char *what)
{
    if (cycles > step->cycles)
        *step = (struct step){cycles, what};
}

static struct step step_of(const struct lathe_plan *plan, const struct lathe_gemm *problem,
                           double active)
{
    double rows = plan->tile[0], columns = plan->tile[1], k = plan->tile[2];
    double element = lathe_type_bytes(plan->type);
    double mma = larger(columns / 2, MMA_A_ROWS + columns / 4) * (rows / 64) * (k * element / 32);
    double a_rows = smaller(rows, 8 * ceil_div((double)problem->m, 8));
    double taken = (a_rows + columns) * k * element;
    double fetched = (a_rows / plan->cluster[1] + columns / plan->cluster[0]) * k * element;
    bool shared = plan->cluster[0] * plan->cluster[1] > 1;
    struct step step = {0, "the tensor cores"};

    wait_for(&step, mma * MMA_SLOWER + STEP_MORE, "the tensor cores");
    wait_for(&step, STEP_LEAST, "the barriers of a step");
    wait_for(&step, taken / (shared ? SHARED_BYTES : SM_BYTES), "TMA");
    wait_for(&step, fetched * active / L2_BYTES, "L2");
    wait_for(&step, LATENCY / plan->stages, "the latency of a stage");
    step.cycles += fetched * L2_ENERGY;
    return step;
}

struct estimate {
    double tiles, waves, places; /* of clusters */
    double cycles;
    const char *bound;
};

static struct estimate estimate(const struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k;
    double out = lathe_type_bytes(plan->out), element = lathe_type_bytes(plan->type);
    struct estimate e = {.places = places(plan)};

    e.tiles = ceil_div(m, plan->tile[0] * plan->cluster[0]) *
              ceil_div(n, plan->tile[1] * plan->cluster[1]);
    e.waves = ceil_div(e.tiles, e.places);

    double active = smaller(e.tiles, e.places) * plan->cluster[0] * plan->cluster[1];
    double steps = larger(1, ceil_div(k, plan->tile[2]));
    double store =
        (plan->consumers == 1 ? STORE_ALONE : STORE) * plan->tile[0] * plan->tile[1] * out;
    struct step step = step_of(plan, problem, active);
    double busy = e.waves * (steps * step.cycles + TILE + store);
    double c_bytes = plan->beta == LATHE_BETA_ANY ? m * n * out : 0;
    double memory =
        ((m * k + n * k) * element + m * n * out + c_bytes) / HBM_BYTES + e.waves * HBM_WAVE;

    /* Where both are near, each waits for the other now and then. */
    e.cycles = sqrt(sqrt(busy * busy * busy * busy + memory * memory * memory * memory)) + LAUNCH;
    e.bound = memory > busy ? "memory" : step.bound;
    return e;
}

static double nanoseconds(double cycles)
{
    return cycles * 1000 / CYCLES_A_US;
}

double lt_gemm_sm90_predict_ns(const struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    return nanoseconds(estimate(plan, problem).cycles);
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

void lt_gemm_sm90_explain(struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    struct estimate e = estimate(plan, problem);
    int percent = e.waves > 0 ? (int)(100 * e.tiles / (e.waves * e.places)) : 0;
    double ns = nanoseconds(e.cycles);

    /* Centuries are more than 64 bits of nanoseconds hold, and no estimate of anything. */
    plan->predicted_ns = ns < NS_MOST ? (int64_t)ns : 0;
    snprintf(plan->reason, sizeof plan->reason,
             "%.0f tile%s on %.0f %s%s: %.0f wave%s, %d %% full; bound by %s", e.tiles,
             plural(e.tiles), e.places, plan->cluster[0] * plan->cluster[1] > 1 ? "cluster" : "CTA",
             plural(e.places), e.waves, plural(e.waves), percent, e.bound);
}

/* Groups of about 2,048 rows: the CTAs of one wave then share as many rows of A as columns of B. */
int lt_gemm_sm90_raster(const struct lathe_plan *plan)
{
    int rows = 2048 / (plan->tile[0] * plan->cluster[0]);

    return rows > 1 ? rows : 1;
}
