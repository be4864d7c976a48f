/* cache.c: the cubins kept on disk. */
#include "cli/request.h"
#include "cli/verb.h"

#include "lathe_tools.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, LIMIT_OF_CONTEXT = -1 };

static const struct key keys[] = {
    {"limit", KEY_BYTES, "BYTES[K|M|G]", 0, INT64_MAX, "the cache's", "prune: what may be left"},
    {0},
};

/* ---- list ---- */

static json_t *entry_json(const struct lathe_cache_entry *e)
{
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:b}", "name", e->name, "bytes", (json_int_t)e->bytes, "written",
                  (json_int_t)e->written, "valid", e->valid);

    if (!e->valid || !object)
        return object;
    json_object_set_new(object, "kernel", json_text(e->kernel));
    json_object_set_new(object, "arch", json_text(e->arch));
    json_object_set_new(object, "linker", json_text(e->linker));
    json_object_set_new(object, "options", json_text(e->options));
    json_object_set_new(object, "plan", json_text(e->plan));
    json_object_set_new(object, "registers", json_integer(e->registers));
    json_object_set_new(object, "spills", json_integer(e->spill_bytes));
    json_object_set_new(object, "warnings", json_integer(e->warning_count));
    return object;
}

static void print_time(int64_t seconds, char *text, size_t size)
{
    time_t time = (time_t)seconds;
    struct tm local;

    text[0] = '\0';
    if (localtime_r(&time, &local))
        strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
}

struct listing {
    struct table table;
    json_t *entries; /* null: text is wanted */
    int64_t count, bytes;
};

static int add_entry(void *user, const struct lathe_cache_entry *e)
{
    struct listing *listing = user;
    char when[32];

    listing->count++;
    listing->bytes += e->bytes;
    if (listing->entries) {
        json_array_append_new(listing->entries, entry_json(e));
        return 0;
    }
    print_time(e->written, when, sizeof when);
    table_cell(&listing->table, "%s", e->name);
    table_cell(&listing->table, "%lld", (long long)e->bytes);
    table_cell(&listing->table, "%s", when);
    table_cell(&listing->table, "%s", e->valid ? e->arch : "-");
    table_cell(&listing->table, "%s", e->valid ? e->kernel : "does not pass the checks");
    return 0;
}

/* The directory can be looked at also where the cache is off and has no path. */
static int answer_list(struct lathe_context *context, struct listing *listing, struct output *out)
{
    struct lathe_error err;
    char path[PATH_SIZE];
    bool known = lathe_cache_path(context, path, sizeof path, &err) == LATHE_OK;

    if (out->json)
        return output_json(out,
                           json_pack("{s:o, s:I, s:o}", "path",
                                     known ? json_text(path) : json_null(), "bytes",
                                     (json_int_t)listing->bytes, "entries", listing->entries),
                           EXIT_DONE);
    table_print(&listing->table, out, 0);
    output_note("%lld %s, %lld bytes%s%s", (long long)listing->count,
                listing->count == 1 ? "entry" : "entries", (long long)listing->bytes,
                known ? " in " : "", known ? path : "");
    return EXIT_DONE;
}

static int run_list(struct lathe_context *context, const struct words *words, struct output *out)
{
    struct listing listing = {.table = {.columns = 5, .right = 1U << 1}};
    struct lathe_error err;

    (void)words;
    if (out->json)
        listing.entries = json_array();
    if (lathe_cache_list(context, add_entry, &listing, &err) == LATHE_OK)
        return answer_list(context, &listing, out);
    json_decref(listing.entries);
    table_free(&listing.table);
    return output_refuse(out, &err);
}

/* ---- show ---- */

struct lookup {
    const char *prefix;
    int count;
    struct lathe_cache_entry entry; /* the first that matches */
};

static int match_entry(void *user, const struct lathe_cache_entry *e)
{
    struct lookup *lookup = user;

    if (strncmp(e->name, lookup->prefix, strlen(lookup->prefix)) == 0 && lookup->count++ == 0)
        lookup->entry = *e;
    return 0;
}

static enum lathe_status find_entry(struct lathe_context *context, const char *prefix,
                                    struct lathe_cache_entry *entry, struct lathe_error *err)
{
    struct lookup lookup = {.prefix = prefix};
    enum lathe_status status = lathe_cache_list(context, match_entry, &lookup, err);

    if (status != LATHE_OK)
        return status;
    if (lookup.count == 0)
        return fail(err, LATHE_IO_FAILED,
                    "'%.40s': no entry's name begins so; see lathe cache list", prefix);
    if (lookup.count > 1)
        return fail(err, LATHE_BAD_WORD,
                    "'%.40s': the names of %d entries begin so; give more of it", prefix,
                    lookup.count);
    if (!lookup.entry.valid)
        return fail(err, LATHE_IO_FAILED,
                    "%s: does not pass the checks; 'lathe cache verify' removes it",
                    lookup.entry.name);
    *entry = lookup.entry;
    return LATHE_OK;
}

static void print_entry(struct output *out, const struct lathe_cache_entry *e)
{
    char when[32];

    print_time(e->written, when, sizeof when);
    output_text(out, "name       %s\n", e->name);
    output_text(out, "written    %s, %lld bytes\n", when, (long long)e->bytes);
    output_text(out, "kernel     %s\n", e->kernel);
    output_text(out, "arch       %s\n", e->arch);
    output_text(out, "plan       %s\n", e->plan);
    output_text(out, "linker     %s, options: %s\n", e->linker, e->options);
    output_text(out, "linked     %d registers, %d bytes spilled, %d warning%s\n", e->registers,
                e->spill_bytes, e->warning_count, e->warning_count == 1 ? "" : "s");
}

/* Bytes go to standard output as they are: behind what is printed already. */
static int write_part(struct lathe_context *context, const struct lathe_cache_entry *entry,
                      enum lathe_cache_part part, struct output *out)
{
    struct lathe_error err;

    if (lathe_cache_write_part(context, entry->name, part, STDOUT_FILENO, &err) != LATHE_OK)
        return output_refuse(out, &err);
    return EXIT_DONE;
}

/* The part as a string, by way of a file in memory; null where that fails. */
static json_t *read_part(struct lathe_context *context, const struct lathe_cache_entry *entry,
                         enum lathe_cache_part part, struct lathe_error *err)
{
    int file = memfd_create("part", MFD_CLOEXEC);
    json_t *text = NULL;

    if (file < 0) {
        fail(err, LATHE_IO_FAILED, "no file in memory could be made");
        return NULL;
    }
    if (lathe_cache_write_part(context, entry->name, part, file, err) == LATHE_OK) {
        off_t length = lseek(file, 0, SEEK_END);
        void *bytes =
            length > 0 ? mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;

        if (bytes != MAP_FAILED) {
            text = json_stringn(bytes, (size_t)length);
            munmap(bytes, (size_t)length);
        }
        if (!text)
            fail(err, LATHE_IO_FAILED, "%s: what it holds is no text", entry->name);
    }
    close(file);
    return text;
}

static int show_json(struct lathe_context *context, const struct lathe_cache_entry *entry, int part,
                     const char *part_name, struct output *out)
{
    struct lathe_error err;
    json_t *object = entry_json(entry);

    if (part < 0)
        return output_json(out, object, EXIT_DONE);

    json_t *text = read_part(context, entry, (enum lathe_cache_part)part, &err);

    if (!text || !object) {
        json_decref(text);
        json_decref(object);
        return output_refuse(out, &err);
    }
    if (part == LATHE_CACHE_CONTRACT) {
        json_t *contract = json_loads(json_string_value(text), 0, NULL);

        if (contract) {
            json_decref(text);
            text = contract;
        }
    }
    json_object_set_new(object, part_name, text);
    return output_json(out, object, EXIT_DONE);
}

static int run_show(struct lathe_context *context, const struct words *words, struct output *out)
{
    /* In the order of enum lathe_cache_part. */
    static const char *const parts[] = {"text", "cubin", "contract"};
    struct lathe_cache_entry entry;
    struct lathe_error err;
    enum lathe_status status = LATHE_OK;
    int part = words->count > 2 ? words_index("text cubin contract", words->list[2]) : -1;

    if (words->count < 2 || words->list[1][0] == '\0')
        status = fail(&err, LATHE_BAD_WORD,
                      "no name given; for example: lathe cache show 3f2a (see lathe cache list)");
    else if (words->count > 2 && part < 0)
        status = words_refuse(words->list[2], "part", parts, 3, &err);
    else if (out->json && part == LATHE_CACHE_CUBIN)
        status = fail(&err, LATHE_BAD_WORD,
                      "a cubin is bytes and cannot stand in JSON; leave out "
                      "--json");
    if (status == LATHE_OK)
        status = find_entry(context, words->list[1], &entry, &err);
    if (status != LATHE_OK)
        return output_refuse(out, &err);
    if (out->json)
        return show_json(context, &entry, part, part < 0 ? NULL : parts[part], out);
    if (part >= 0)
        return write_part(context, &entry, (enum lathe_cache_part)part, out);
    print_entry(out, &entry);
    return EXIT_DONE;
}

/* ---- verify, prune, clear, path ---- */

static int run_verify(struct lathe_context *context, const struct words *words, struct output *out)
{
    struct lathe_error err;
    int checked = 0, removed = 0;

    (void)words;
    if (lathe_cache_verify(context, &checked, &removed, &err) != LATHE_OK)
        return output_refuse(out, &err);

    int code = removed > 0 ? EXIT_CANNOT : EXIT_DONE;

    if (out->json)
        return output_json(out, json_pack("{s:i, s:i}", "checked", checked, "removed", removed),
                           code);
    output_text(out, "%d entries checked, %d bad ones removed\n", checked, removed);
    return code;
}

static int remove_beyond(struct lathe_context *context, int64_t limit, struct output *out)
{
    struct lathe_error err;
    int removed = 0;

    if (lathe_cache_prune(context, limit, &removed, &err) != LATHE_OK)
        return output_refuse(out, &err);
    if (out->json)
        return output_json(out, json_pack("{s:i}", "removed", removed), EXIT_DONE);
    output_text(out, "%d entries removed\n", removed);
    return EXIT_DONE;
}

static int run_prune(struct lathe_context *context, const struct words *words, struct output *out)
{
    return remove_beyond(context, words_number(words, "limit", LIMIT_OF_CONTEXT), out);
}

static int run_clear(struct lathe_context *context, const struct words *words, struct output *out)
{
    (void)words;
    return remove_beyond(context, 0, out);
}

static int run_path(struct lathe_context *context, const struct words *words, struct output *out)
{
    struct lathe_error err;
    char path[PATH_SIZE];

    (void)words;
    if (lathe_cache_path(context, path, sizeof path, &err) != LATHE_OK)
        return output_refuse(out, &err);
    if (out->json)
        return output_json(out, json_pack("{s:o}", "path", json_text(path)), EXIT_DONE);
    output_text(out, "%s\n", path);
    return EXIT_DONE;
}

/* ---- The verb ---- */

static const struct action {
    const char *name;
    int most_words; /* the action's name included */
    int (*run)(struct lathe_context *context, const struct words *words, struct output *out);
} actions[] = {
    {"list", 1, run_list},   {"show", 3, run_show},   {"verify", 1, run_verify},
    {"prune", 1, run_prune}, {"clear", 1, run_clear}, {"path", 1, run_path},
};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static enum lathe_status find_action(const struct words *words, const struct action **action,
                                     struct lathe_error *err)
{
    const char *names[ACTIONS];

    for (size_t i = 0; i < ACTIONS; i++)
        names[i] = actions[i].name;
    if (words->count == 0)
        return fail(err, LATHE_BAD_WORD,
                    "no action given; there are list, show, verify, prune, clear and path");
    for (size_t i = 0; i < ACTIONS; i++)
        if (strcmp(names[i], words->list[0]) == 0) {
            *action = &actions[i];
            return words_at_most(words, actions[i].most_words, err);
        }
    return words_refuse(words->list[0], "action", names, ACTIONS, err);
}

static int run(const struct words *words, struct output *out)
{
    const struct action *action = NULL;
    struct lathe_context *context = NULL;
    struct lathe_error err;
    enum lathe_status status = find_action(words, &action, &err);

    if (status == LATHE_OK && words_given(words, "limit") && action->run != run_prune)
        status = fail(&err, LATHE_BAD_WORD, "limit= is for prune, not for %s", action->name);
    if (status == LATHE_OK)
        status = context_open(&context, &err);
    if (status != LATHE_OK)
        return output_refuse(out, &err);

    int code = action->run(context, words, out);

    lathe_context_destroy(&context);
    return code;
}

const struct verb verb_cache = {
    .name = "cache",
    .synopsis = "list|show|verify|prune|clear|path [WORD...]",
    .summary = "the cubins kept on disk: look, verify, remove",
    .about =
        "  list            entries, the oldest first: name, bytes, when, arch, kernel\n"
        "  show NAME       one entry; NAME is a name, or as much of its beginning as only one has\n"
        "  show NAME PART  what it holds, as it is: text, cubin or contract\n"
        "  verify          removes entries that do not pass the checks; exits 1 if there were any\n"
        "  prune           removes the oldest entries until no more than limit= bytes are left\n"
        "  clear           removes all entries\n"
        "  path            the directory in use\n"
        "\n"
        "--json: list {\"path\", \"bytes\", \"entries\": [{\"name\", \"bytes\", \"written\": "
        "seconds since\n"
        "1970, \"valid\", and if so \"kernel\", \"arch\", \"linker\", \"options\", \"plan\", "
        "\"registers\",\n"
        "\"spills\", \"warnings\"}]}; show one such entry, with PART also \"text\" or "
        "\"contract\";\n"
        "verify {\"checked\", \"removed\"}; prune and clear {\"removed\"}; path {\"path\"}.\n",
    .examples = "  lathe cache path\n"
                "  lathe build gemm m=4096 n=4096 k=4096 arch=sm_90a\n"
                "  lathe cache list\n"
                "  lathe cache show $(lathe cache list | tail -n 1 | cut -c 1-32)\n"
                "  lathe cache show $(lathe cache list | tail -n 1 | cut -c 1-32) text\n"
                "  lathe cache verify --json\n"
                "  lathe cache prune limit=512M\n"
                "  lathe cache clear\n",
    .keys = keys,
    .run = run,
};
