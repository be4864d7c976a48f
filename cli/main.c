/* main.c: the command `lathe`. Tells words apart, finds the verb, and lets it run.
 *
 * What a verb does stands in its own file; how problems and plans are written, in the library. */
#include "cli/build_id.h"
#include "cli/help.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const struct verb *const verbs[] = {
    &verb_list,  &verb_plan,  &verb_emit,   &verb_build, &verb_run,
    &verb_check, &verb_diff,  &verb_bench,  &verb_plot,  &verb_emulate,
    &verb_trace, &verb_cache, &verb_doctor, &verb_help,  NULL,
};

const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; verbs[i]; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

enum lathe_status verb_refuse(const char *name, struct lathe_error *err)
{
    const char *names[sizeof verbs / sizeof verbs[0]];
    size_t count = 0;

    while (verbs[count]) {
        names[count] = verbs[count]->name;
        count++;
    }
    return words_refuse(name, "verb", names, count, err);
}

static int print_version(struct output *out)
{
    if (out->json)
        return output_json(
            out, json_pack("{s:s, s:s}", "version", lathe_version(), "git", build_git_id()),
            EXIT_DONE);
    output_text(out, "lathe %s\n", lathe_version());
    return EXIT_DONE;
}

static enum lathe_status find_verb(const struct words *words, const struct verb **verb,
                                   struct lathe_error *err)
{
    if (!words->verb)
        return fail(err, LATHE_BAD_WORD, "no verb given; 'lathe --help' names them");
    *verb = verb_find(words->verb);
    return *verb ? LATHE_OK : verb_refuse(words->verb, err);
}

static int dispatch(struct words *words, struct output *out)
{
    const struct verb *verb = NULL;
    struct lathe_error err;

    if (words->version)
        return print_version(out);
    if (!words->verb && words->help)
        return verb_help.run(words, out);
    if (find_verb(words, &verb, &err) != LATHE_OK)
        return output_refuse(out, &err);
    if (words->help)
        return help_verb(out, verb);
    if (words->output && !verb->output) {
        fail(&err, LATHE_BAD_WORD, "-o %.80s: lathe %s writes no file", words->output, verb->name);
        return output_refuse(out, &err);
    }
    if (words->explain && !verb->explains) {
        fail(&err, LATHE_BAD_WORD, "--explain: lathe %s explains nothing; lathe plan does",
             verb->name);
        return output_refuse(out, &err);
    }
    if (words_sort(words, verb->keys, verb->takes_request, &err) != LATHE_OK)
        return output_refuse(out, &err);
    return verb->run(words, out);
}

/* A descriptor that the caller closed would be given to the next file that is opened, and results
 * or messages written into that. One that cannot be written to makes writing fail instead. */
static void occupy_standard_descriptors(void)
{
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_CANNOT);
}

int main(int argc, char **argv)
{
    struct words words;
    struct lathe_error err;

    occupy_standard_descriptors();
    /* What cannot be written is then an error that we see: output_close(), file_write(). */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);

    enum lathe_status status = words_split(&words, argc, argv, &err);
    struct output out = output_open(words.json);
    int code = status == LATHE_OK ? dispatch(&words, &out) : output_refuse(&out, &err);

    words_free(&words);
    return output_close(&out, code);
}
