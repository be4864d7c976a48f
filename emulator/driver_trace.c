/* driver_trace.c: the model of time for programs of the driver API: on and off, and what it told.
 */
#include "emulator/driver_state.h"
#include "emulator/trace.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int emu_set_trace(int on, const struct emu_trace_options *options)
{
    struct emu_trace *trace = on ? emu_trace_create(options) : NULL;

    if (on && !trace)
        return 0;
    emu_cu_lock();
    for (int i = 0; i < emu_cu_driver.gpu_count; i++)
        if (emu_cu_driver.gpus[i].machine)
            emu_device_set_trace(emu_cu_driver.gpus[i].machine, trace);
    emu_trace_destroy(emu_cu_driver.trace);
    emu_cu_driver.trace = trace;
    emu_cu_unlock();
    return 1;
}

EXPORTED size_t emu_events(struct emu_event *list, size_t room)
{
    const struct emu_trace *trace;
    size_t count;

    emu_cu_lock();
    trace = emu_cu_driver.trace;
    count = trace ? trace->count : 0;
    if (list && room > 0 && count > 0)
        memcpy(list, trace->events, (room < count ? room : count) * sizeof *list);
    emu_cu_unlock();
    return count;
}

EXPORTED void emu_trace_total(struct emu_trace_summary *summary)
{
    emu_cu_lock();
    *summary = emu_cu_driver.trace ? emu_cu_driver.trace->summary
                                   : (struct emu_trace_summary){.cycles = 0};
    emu_cu_unlock();
}

EXPORTED void emu_forget_events(void)
{
    emu_cu_lock();
    if (emu_cu_driver.trace)
        emu_trace_forget(emu_cu_driver.trace);
    emu_cu_unlock();
}
