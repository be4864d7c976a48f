/* Words behind an instruction's name: what belongs there loads, and what does not is refused with
 * the line and the word, and never skipped. */
#include "emulator/machine.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static const char head[] = ".version 8.8 .target sm_90a .address_size 64\n"
                           ".entry k() {\n"
                           ".reg .pred %p; .reg .b16 %h; .reg .b32 %r; .reg .b64 %d;\n"
                           ".reg .b32 %a, %b;\n";

/* Null where it loads, else the message. */
static const char *message_of(const char *instruction)
{
    static struct emu_error error;
    const struct emu_options options = {.target = 90, .multiprocessors = 1};
    struct emu_device *device = emu_device_create(&options);
    struct emu_program *program;
    char text[1024];

    assert_non_null(device);
    error = (struct emu_error){.line = 0};
    snprintf(text, sizeof text, "%s%s;\nret;\n}\n", head, instruction);
    program = emu_program_load(device, text, strlen(text), &error);
    emu_program_unload(program);
    emu_device_destroy(device);
    return program ? NULL : error.message;
}

static void words_that_belong_there_load(void **state)
{
    static const char *const right[] = {
        "ld.relaxed.sys.global.L1::evict_last.L2::128B.u32 %r, [%d]",
        "ld.global.nc.L1::no_allocate.L2::256B.v2.b32 {%a, %b}, [%d]",
        "ld.mmio.relaxed.sys.global.u32 %r, [%d]",
        "ld.weak.shared::cluster.b16 %h, [%r]",
        "st.release.gpu.global.L1::evict_first.b32 [%d], %r",
        "atom.acq_rel.cluster.shared::cluster.cas.b32 %r, [%a], %b, %b",
        "atom.global.sys.exch.b64 %d, [%d], %d",
        "red.relaxed.gpu.global.add.noftz.f16x2 [%d], %r",
        "fence.proxy.tensormap::generic.release.gpu",
        "fence.proxy.async.shared::cta",
        "membar.gl",
        "bar.red.popc.u32 %r, 1, %p",
        "barrier.cluster.arrive.release.aligned",
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%r], 0",
        "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %d, [%r], 1",
        "cp.async.bulk.wait_group.read 0",
        "createpolicy.fractional.L2::evict_unchanged.L2::evict_unchanged.b64 %d, 0.5",
        "isspacep.shared::cluster %p, %d",
        "prefetch.global.L2::evict_last [%d]",
        "cvta.to.shared.u64 %d, %d",
    };

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        if (message_of(right[i]))
            fail_msg("%s: %s", right[i], message_of(right[i]));
}

static void a_word_that_does_not_is_named_with_its_line(void **state)
{
    static const struct {
        const char *instruction, *said;
    } wrong[] = {
        {"mbarrier.arrive.arrive_x.shared.b64 _, [%r]", ".arrive_x is no word of mbarrier.arrive"},
        {"ld.global.sync.u32 %r, [%d]", ".sync is no word of ld"},
        {"ld.glbal.u32 %r, [%d]", ".glbal is no word of ld"},
        {"st.global.ca.u32 [%d], %r", ".ca is no word of st"},
        {"atom.global.sub.u32 %r, [%d], %r", ".sub is no word of atom"},
        {"fence.acqrel.gpu", ".acqrel is no word of fence"},
        {"bar.sync.aligned 0", ".aligned is no word of bar.sync"},
        {"cp.async.cs.shared.global [%r], [%d], 16", ".cs is no word of cp.async"},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.ignore_oob [%r], [%d], "
         "16, 4, 4, [%a]",
         ".ignore_oob is no word of cp.async.bulk"},
        {"mbarrier.init.parity.shared.b64 [%r], 1", ".parity is no word of mbarrier.init"},
        {"atom.local.add.u32 %r, [%d], %r", ".local is no word of atom"},
        {"barrier.cluster.sync", ".sync is no word of barrier.cluster"},
        {"ret.all", ".all is no word of ret"},
        {"ld.global.global.u32 %r, [%d]", ".global stands there twice"},
        {"ld.global.shared.u32 %r, [%d]", ".shared is its second space"},
        {"st.global.u32.b32 [%d], %r", ".b32 is its second type"},
        {"bar.sync.arrive 2, 128", ".arrive is no word of bar.sync"},
        {"ld.relaxed.gpu.cta.u32 %r, [%d]", ".cta is its second scope"},
        {"ld.volatile.relaxed.gpu.u32 %r, [%d]", ".relaxed is its second order"},
        {"red.global.add.min.u32 [%d], %r", ".min is its second operation"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *message = message_of(wrong[i].instruction);

        if (!message || !strstr(message, wrong[i].said) || !strstr(message, "line 5: "))
            fail_msg("%s: %s", wrong[i].instruction, message ? message : "loads");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_belong_there_load),
        cmocka_unit_test(a_word_that_does_not_is_named_with_its_line),
    };

    return cmocka_run_group_tests_name("emulator form_words", tests, NULL, NULL);
}
