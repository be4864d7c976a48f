/* progress.h: says on a terminal that long work goes on. */
#ifndef LT_CLI_PROGRESS_H
#define LT_CLI_PROGRESS_H

#include "cli/output.h"

#include <pthread.h>

/* Between begin and end a line on standard error names the work and counts seconds, once it has
 * lasted longer than one. Prints nothing where standard error is no terminal. */
struct progress {
    const char *what;
    int parts_done, parts; /* of the work; no parts: it is one */
    bool running, done;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
};

void progress_begin(struct progress *progress, const struct output *out, const char *what);
/* So many parts are done; the line says so. A lathe_progress_callback, given the progress. */
void progress_parts(void *progress, int done, int count);
void progress_end(struct progress *progress);

#endif
