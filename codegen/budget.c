#include "codegen/budget.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

int lt_budget_add(struct lt_budget *budget, const char *name, int64_t bytes)
{
    assert(budget->count < LATHE_TENANTS_MAX && bytes >= 0 && bytes < INT_MAX / 2);

    int index = budget->count++;

    budget->tenants[index].name = name;
    budget->tenants[index].bytes = (int)bytes;
    budget->tenants[index].offset = budget->bytes;
    budget->bytes += (int)bytes;
    return budget->tenants[index].offset;
}

void lt_budget_store(const struct lt_budget *budget, struct lathe_plan *plan)
{
    plan->tenant_count = budget->count;
    plan->smem_bytes = budget->bytes;
    memset(plan->tenants, 0, sizeof plan->tenants);
    for (int i = 0; i < budget->count; i++) {
        struct lathe_tenant *tenant = &plan->tenants[i];

        strncpy(tenant->name, budget->tenants[i].name, sizeof tenant->name - 1);
        tenant->bytes = budget->tenants[i].bytes;
        tenant->offset = budget->tenants[i].offset;
    }
}

void lt_budget_align(struct lt_budget *budget, int alignment)
{
    int over = budget->bytes % alignment;

    if (over > 0)
        lt_budget_add(budget, "padding", alignment - over);
}

int lt_budget_bytes(const struct lathe_plan *plan, const char *name)
{
    for (int i = 0; i < plan->tenant_count; i++)
        if (strcmp(plan->tenants[i].name, name) == 0)
            return plan->tenants[i].bytes;
    return 0;
}

int lt_budget_offset(const struct lathe_plan *plan, const char *name)
{
    for (int i = 0; i < plan->tenant_count; i++)
        if (strcmp(plan->tenants[i].name, name) == 0)
            return plan->tenants[i].offset;
    assert(false && "a tenant that the plan's budget lacks");
    return 0;
}
