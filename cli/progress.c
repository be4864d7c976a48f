#include "cli/progress.h"

#include <time.h>

/* Sleeps for a second at most; true when the work has ended. The mutex is held. */
static bool wait_for_end(struct progress *progress)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (!progress->done)
        if (pthread_cond_timedwait(&progress->ended, &progress->mutex, &until) != 0)
            break;
    return progress->done;
}

static void *count_seconds(void *argument)
{
    struct progress *progress = argument;
    int seconds = 0;

    pthread_mutex_lock(&progress->mutex);
    while (!wait_for_end(progress)) {
        fprintf(stderr, "\r%s ... ", progress->what);
        if (progress->parts > 0)
            fprintf(stderr, "%d of %d, ", progress->parts_done, progress->parts);
        fprintf(stderr, "%d s", ++seconds);
    }
    pthread_mutex_unlock(&progress->mutex);
    if (seconds > 0)
        fputs("\r\033[K", stderr);
    return NULL;
}

void progress_begin(struct progress *progress, const struct output *out, const char *what)
{
    *progress = (struct progress){.what = what};
    if (!out->progress)
        return;
    pthread_mutex_init(&progress->mutex, NULL);
    pthread_cond_init(&progress->ended, NULL);
    progress->running = pthread_create(&progress->thread, NULL, count_seconds, progress) == 0;
}

void progress_parts(void *user, int done, int count)
{
    struct progress *progress = user;

    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->parts_done = done;
    progress->parts = count;
    pthread_mutex_unlock(&progress->mutex);
}

void progress_end(struct progress *progress)
{
    if (!progress->running)
        return;
    pthread_mutex_lock(&progress->mutex);
    progress->done = true;
    pthread_cond_signal(&progress->ended);
    pthread_mutex_unlock(&progress->mutex);
    pthread_join(progress->thread, NULL);
    progress->running = false;
}
