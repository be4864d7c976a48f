/* launch_control.h: cluster launch control: a cluster that runs takes the place of one that has not
 * begun, and so the work that its number stands for.
 *
 * Source: PTX ISA "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel". A reply
 * is 16 bytes that only query_cancel can read. The async proxy writes them: who has read a reply
 * executes lt_fence_proxy_async() before whatever tells those who ask for the next one in the same
 * place.
 */
#ifndef LT_CODEGEN_LAUNCH_CONTROL_H
#define LT_CODEGEN_LAUNCH_CONTROL_H

#include "codegen/builder.h"

enum { LT_REPLY_BYTES = 16 /* and its alignment */ };

/* Asks for a cluster that has not begun: the reply goes to `reply` in this CTA's shared memory and
 * its bytes count on the mbarrier `full` there; with `to_cluster` to the same offsets of every CTA
 * of the cluster, all of which must run and expect it. One thread of the cluster asks, and no more
 * after it has seen a reply that takes nothing over. */
void lt_try_cancel(struct lt_builder *b, lt_value reply, lt_value full, bool to_cluster);

/* The reply, in a register of 128 bits. */
lt_value lt_reply_load(struct lt_builder *b, const char *name, lt_value address);
/* Predicate: a cluster was taken over. */
lt_value lt_reply_is_canceled(struct lt_builder *b, const char *name, lt_value reply);
/* %ctaid.x of its first CTA; undefined where none was taken over. */
lt_value lt_reply_first_cta(struct lt_builder *b, const char *name, lt_value reply);

#endif
