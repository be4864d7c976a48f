#include "codegen/launch_control.h"

void lt_try_cancel(struct lt_builder *b, lt_value reply, lt_value full, bool to_cluster)
{
    lt_require(b, LT_HAS_CLC, "clusterlaunchcontrol");
    if (!to_cluster) {
        lt_inst(
            b,
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
            "[%0], [%1];",
            reply, full);
        return;
    }
    lt_require(b, LT_HAS_MULTICAST, "clusterlaunchcontrol with .multicast::cluster::all");
    lt_inst(b,
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
            ".multicast::cluster::all.b128 [%0], [%1];",
            reply, full);
}

lt_value lt_reply_load(struct lt_builder *b, const char *name, lt_value address)
{
    lt_require(b, LT_HAS_CLC, "clusterlaunchcontrol");

    lt_value reply = lt_define(b, LT_B128, name);

    lt_inst(b, "ld.shared.b128 %0, [%1];", reply, address);
    return reply;
}

lt_value lt_reply_is_canceled(struct lt_builder *b, const char *name, lt_value reply)
{
    lt_require(b, LT_HAS_CLC, "clusterlaunchcontrol");

    lt_value canceled = lt_define(b, LT_PRED, name);

    lt_inst(b, "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %0, %1;", canceled, reply);
    return canceled;
}

lt_value lt_reply_first_cta(struct lt_builder *b, const char *name, lt_value reply)
{
    lt_require(b, LT_HAS_CLC, "clusterlaunchcontrol");

    lt_value first = lt_define(b, LT_B32, name);

    lt_inst(b, "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %0, %1;", first,
            reply);
    return first;
}
