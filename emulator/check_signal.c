/* check_signal.c: who has signalled an mbarrier, for reports of deadlocks: a warp that has in one
 * phase is looked for in the next. */
#include "emulator/check_state.h"
#include "emulator/reach.h"

#include <stdlib.h>
#include <string.h>

void emu_check_signals_forget(struct emu_check_mbarrier *check)
{
    free(check->signals);
    check->signals = NULL;
    check->signal_count = check->signal_room = 0;
}

static struct emu_signal *find(const struct emu_check_mbarrier *check, const struct emu_warp *warp,
                               const struct emu_op *op)
{
    for (size_t i = 0; i < check->signal_count; i++)
        if (check->signals[i].warp == warp && check->signals[i].op == op)
            return &check->signals[i];
    return NULL;
}

static struct emu_signal *add(struct emu_check_mbarrier *check)
{
    if (check->signal_count == check->signal_room) {
        size_t room = check->signal_room ? 2 * check->signal_room : 4;
        struct emu_signal *grown = realloc(check->signals, room * sizeof *grown);

        if (!grown)
            return NULL;
        check->signals = grown;
        check->signal_room = room;
    }
    return &check->signals[check->signal_count++];
}

void emu_check_mbarrier_signal(struct emu_warp *warp, const struct emu_op *op,
                               const struct emu_mbarrier *barrier)
{
    struct emu_signal *signal = find(barrier->check, warp, op);

    if (!signal)
        signal = add(barrier->check);
    if (signal)
        *signal = (struct emu_signal){warp, op, barrier->phase};
    else
        emu_check_no_memory(warp);
}

/* ---- Who is due ---- */

static const char *place_of(const struct emu_instruction *text)
{
    for (int i = text->operand_count - 1; i >= 0; i--)
        if (text->operands[i].kind == EMU_OPERAND_ADDRESS && text->operands[i].name)
            return text->operands[i].name;
    return "";
}

/* The same instruction on an operand of the same name, at whichever place of the text: roles that
 * arrive at one barrier have their own. */
static bool is_like(const struct emu_op *op, const struct emu_op *like)
{
    if (op == like)
        return true;
    return op->execute == like->execute && op->text && like->text &&
           strcmp(op->text->opcode, like->text->opcode) == 0 &&
           strcmp(place_of(op->text), place_of(like->text)) == 0;
}

/* What is no wait, on an operand of the name that the wait's has. */
static bool names_awaited(const struct emu_op *op, const struct emu_op *wait)
{
    return op->execute != wait->execute && op->text && place_of(op->text)[0] != '\0' &&
           strcmp(place_of(op->text), place_of(wait->text)) == 0;
}

/* Barriers at one place are alike in all CTAs of a cluster. The barrier itself is one of them; null
 * where a CTA has none there. */
static const struct emu_check_mbarrier *like_of(const struct emu_mbarrier *barrier, uint32_t rank)
{
    const struct emu_mbarrier *like =
        emu_mbarrier_at(&barrier->cta->cluster->ctas[rank], barrier->offset);

    return like ? like->check : NULL;
}

/* Whether it may yet do what others have done to a barrier in its first phase: those of its CTA, or
 * its own number in another CTA, there too. Who has signalled any of them has been there, and has
 * left out the others. Where nobody has, the text tells by its names. */
static bool may_follow(const struct emu_mbarrier *barrier, const struct emu_op *wait,
                       const struct emu_warp *warp, const struct emu_reach *reach)
{
    bool is_signalled = false, may_come = false;

    for (uint32_t rank = 0; rank < barrier->cta->cluster->cta_count; rank++) {
        const struct emu_check_mbarrier *like = like_of(barrier, rank);

        for (size_t i = 0; like && i < like->signal_count; i++) {
            const struct emu_signal *signal = &like->signals[i];
            bool is_like_it = signal->warp->index == warp->index ||
                              (signal->warp->cta == warp->cta && like == barrier->check);

            if (signal->warp == warp)
                return false;
            is_signalled = true;
            may_come = may_come || (is_like_it && emu_reaches_like(reach, signal->op, is_like));
        }
    }
    return may_come || (!is_signalled && emu_reaches_like(reach, wait, names_awaited));
}

enum emu_due emu_check_due(const struct emu_mbarrier *barrier, const struct emu_op *wait,
                           const struct emu_warp *warp, const struct emu_reach *reach)
{
    const struct emu_check_mbarrier *check = barrier->check;
    bool may_come = false;

    for (size_t i = 0; check && i < check->signal_count; i++) {
        const struct emu_signal *signal = &check->signals[i];

        if (signal->warp == warp && signal->phase == barrier->phase)
            return EMU_NOT_DUE; /* once a phase */
        may_come = may_come || (signal->warp == warp && emu_reaches(reach, signal->op));
    }
    if (may_come)
        return EMU_DUE;
    return barrier->phase == 0 && may_follow(barrier, wait, warp, reach) ? EMU_MAYBE_DUE
                                                                         : EMU_NOT_DUE;
}

static bool names_awaited_with_bytes(const struct emu_op *op, const struct emu_op *wait)
{
    return names_awaited(op, wait) &&
           (emu_has_word(op->text, "expect_tx") || emu_has_word(op->text, "complete_tx"));
}

static bool commits_to_awaited(const struct emu_op *op, const struct emu_op *wait)
{
    return names_awaited(op, wait) && emu_has_word(op->text, "commit");
}

enum emu_brings emu_check_brings(const struct emu_op *wait, const struct emu_reach *reach)
{
    return emu_reaches_like(reach, wait, names_awaited_with_bytes) ? EMU_BRINGS_BYTES
           : emu_reaches_like(reach, wait, commits_to_awaited)     ? EMU_BRINGS_PRODUCTS
                                                                   : EMU_BRINGS_NOTHING;
}

bool emu_check_is_signalled(const struct emu_mbarrier *barrier,
                            bool (*counts)(const void *user, const struct emu_warp *warp),
                            const void *user)
{
    for (uint32_t rank = 0; rank < barrier->cta->cluster->cta_count; rank++) {
        const struct emu_check_mbarrier *like = like_of(barrier, rank);
        bool is_own = like == barrier->check;

        for (size_t i = 0; like && i < like->signal_count; i++)
            if ((is_own ? like->signals[i].phase == barrier->phase : barrier->phase == 0) &&
                counts(user, like->signals[i].warp))
                return true;
    }
    return false;
}
