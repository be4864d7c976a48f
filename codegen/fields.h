/* fields.h: the named fields of problems and plans, as tables that parse and print themselves.
 *
 * The rows stand in gemm.def and plan.def. A field lives at an offset of a struct: of the problem
 * or the plan options, and, where it decides the text, of the plan too. */
#ifndef LT_CODEGEN_FIELDS_H
#define LT_CODEGEN_FIELDS_H

#include "codegen/text.h"
#include "codegen/words.h"
#include "include/lathe.h"

enum { LT_STAGES_MAX = 64 };      /* of a ring, as plan.def has it */
#define LT_SIZE_MAX 0x7ffff000    /* 2^31 - 2^12 */
#define LT_STRIDE_MAX (1LL << 40) /* elements; TMA's limit, in bytes, is checked with the type */

enum lt_field_kind {
    LT_SIZE,    /* int64_t                         */
    LT_INT,     /* int                             */
    LT_WORD,    /* an enumeration, by its words    */
    LT_PAIR,    /* int[2], "40x232"                */
    LT_TRIPLE,  /* int[3], "128x256x64"            */
    LT_STAGING, /* int[3], the last may be left out */
    LT_NAME     /* char[LATHE_NAME_SIZE], a variant */
};

enum lt_decides { LT_TEXT, LT_LAUNCH };

struct lt_field {
    const char *key;
    enum lt_field_kind kind;
    const struct lt_word *words;
    size_t offset;      /* in struct lathe_gemm or struct lathe_plan_options */
    size_t plan_offset; /* in struct lathe_plan; SIZE_MAX where it has none  */
    int64_t lowest, highest;
    enum lt_decides decides;
    const char *fallback;
    const char *doc;
};

extern const struct lt_field lt_gemm_fields[], lt_plan_fields[];
extern const size_t lt_gemm_field_count, lt_plan_field_count;

/* Of the field's storage. */
size_t lt_field_bytes(const struct lt_field *field);

/* Null if there is none of that name. */
const struct lt_field *lt_field_find(const struct lt_field *fields, size_t count, const char *key);

/* Reads `value` into `target`, the field's own storage. */
enum lathe_status lt_field_set(const struct lt_field *field, void *target, const char *value,
                               struct lathe_error *err);

/* Whether the storage holds something else than "not named". */
bool lt_field_is_set(const struct lt_field *field, const void *storage);

/* Whether the storage holds what lt_field_set() could have put there; or, where `may_be_open`,
 * nothing. For values that come from a program, not from words. */
enum lathe_status lt_field_check(const struct lt_field *field, const void *storage,
                                 bool may_be_open, struct lathe_error *err);

/* Appends the value as a word would give it. */
void lt_field_print(const struct lt_field *field, const void *storage, struct lt_text *text);

#endif
