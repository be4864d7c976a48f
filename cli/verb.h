/* verb.h: what main.c and help.c know of a verb. A file a verb fills one in. */
#ifndef LT_CLI_VERB_H
#define LT_CLI_VERB_H

#include "cli/output.h"
#include "cli/words.h"

struct verb {
    const char *name;
    const char *synopsis; /* what follows "lathe NAME"                          */
    const char *summary;  /* one line, for lathe --help                         */
    const char *about;    /* what it prints, and what --json holds              */
    const char *examples; /* commands, a line each, that the tests run in order */
    const char *output;   /* what -o FILE receives; null: no -o                 */
    bool explains;        /* --explain                                          */
    bool takes_request;   /* the words are a problem and plan fields            */
    const struct key *keys;
    int (*run)(const struct words *words, struct output *out); /* the exit code */
};

/* In the order of lathe --help; ended by null. */
extern const struct verb *const verbs[];

extern const struct verb verb_list, verb_plan, verb_emit, verb_build, verb_run, verb_check,
    verb_bench, verb_cache, verb_diff, verb_doctor, verb_emulate, verb_help, verb_plot, verb_trace;

/* Null when there is none of that name. */
const struct verb *verb_find(const char *name);
/* Refuses a name that is no verb's, and says which is nearest. */
enum lathe_status verb_refuse(const char *name, struct lathe_error *err);

#endif
