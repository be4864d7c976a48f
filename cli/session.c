#include "cli/session.h"

#include "cli/file.h"

#include <stdlib.h>

static enum lathe_status open_context(struct lathe_context **context, const struct words *words,
                                      enum session_place place, enum lathe_arch arch,
                                      struct lathe_error *err)
{
    switch (place) {
    case SESSION_GPU:
        return context_open_device(context, words, err);
    case SESSION_ANYWHERE:
        return context_open_any(context, words, arch, err);
    case SESSION_EMULATOR:
        return context_open_emulator(context, arch, err);
    case SESSION_NOWHERE:
        break;
    }
    return context_open(context, err);
}

/* Then what is not named follows the GPU all the same, as in `lathe emit`, whose text may be given.
 */
static bool is_emulated(const struct words *words, enum session_place place)
{
    return place == SESSION_EMULATOR || place == SESSION_NOWHERE ||
           (place == SESSION_ANYWHERE && words_are(words, "device", "emulator"));
}

enum lathe_status session_begin(struct session *session, const struct words *words,
                                const struct output *out, enum session_place place,
                                const char *what, struct lathe_error *err)
{
    enum lathe_status status;
    size_t size;

    *session = (struct session){.context = NULL};
    status = is_emulated(words, place) ? request_detect(words, &session->request, err)
                                       : request_read(words, &session->request, err);
    if (status == LATHE_OK && words_given(words, "text"))
        status = file_read(words_value(words, "text"), &session->text, &size, err);
    if (status == LATHE_OK) {
        enum lathe_arch emulated = request_emulated_arch(&session->request);

        if (place == SESSION_NOWHERE) /* where the library chooses the emulator's device itself */
            session->request.plan.arch = emulated;
        status = open_context(&session->context, words, place, emulated, err);
    }
    if (status == LATHE_OK)
        progress_begin(&session->progress, out, what);
    return status;
}

void session_end(struct session *session)
{
    progress_end(&session->progress);
    lathe_context_destroy(&session->context);
    free(session->text);
}
