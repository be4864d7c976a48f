/* session.h: what the verbs that run a problem begin and end with: the request, a context, and a
 * line on the terminal meanwhile. */
#ifndef LT_CLI_SESSION_H
#define LT_CLI_SESSION_H

#include "cli/progress.h"
#include "cli/request.h"

enum session_place {
    SESSION_GPU,      /* as device= says */
    SESSION_ANYWHERE, /* the same, or the emulator */
    SESSION_NOWHERE,  /* there is no device=: the library finds the emulator by itself */
    SESSION_EMULATOR  /* nor here: it is the emulator's context */
};

struct session {
    struct lathe_request request;
    struct lathe_context *context;
    struct progress progress;
    char *text; /* of the file that text= names; or null */
};

/* `what` is the work, as the line on the terminal names it. To be ended after failures, too. */
enum lathe_status session_begin(struct session *session, const struct words *words,
                                const struct output *out, enum session_place place,
                                const char *what, struct lathe_error *err);
void session_end(struct session *session);

#endif
