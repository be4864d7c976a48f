/* plan.h: plans as values: versions of the struct, words and JSON. What a plan may hold is the
 * templates' business; here it is only carried about. */
#ifndef LT_CODEGEN_PLAN_H
#define LT_CODEGEN_PLAN_H

#include "include/lathe.h"

/* Copies a struct of the caller's, which may be of an older or a newer header than ours, into one
 * of our own size: what it lacks is zero, and so is everything where `theirs` is null. Errors:
 * LATHE_MISUSED (its struct_size is none, or a field that we do not know is set). */
#define lt_import(ours, theirs, name, err) lt_import_(ours, sizeof *(ours), theirs, name, err)
enum lathe_status lt_import_(void *ours, size_t our_size, const void *theirs, const char *name,
                             struct lathe_error *err);
/* The same for a plan and for options, whose strings are then ended and whose tenants are at most
 * as many as there is room for, whatever the caller's held. */
enum lathe_status lt_import_plan(struct lathe_plan *ours, const struct lathe_plan *theirs,
                                 struct lathe_error *err);
enum lathe_status lt_import_options(struct lathe_plan_options *ours,
                                    const struct lathe_plan_options *theirs,
                                    struct lathe_error *err);
/* The same check of a struct that is only written to. */
enum lathe_status lt_check_size(const void *theirs, const char *name, struct lathe_error *err);
/* The same for one that holds other structs which grow: where sizes differ, so do the places of its
 * fields, and it is refused. */
#define lt_check_layout(theirs, name, err) lt_check_layout_(theirs, sizeof *(theirs), name, err)
enum lathe_status lt_check_layout_(const void *theirs, size_t our_size, const char *name,
                                   struct lathe_error *err);
/* Copies back what the caller's struct has room for; its struct_size stays. */
void lt_export(void *theirs, const void *ours);

/* The values of all fields of a problem and of options, one behind the other and zeros behind the
 * last: the same bytes for the same request, whatever stands between the fields. */
enum { LT_PLAN_KEY_BYTES = 256 };
void lt_plan_key(unsigned char key[LT_PLAN_KEY_BYTES], const struct lathe_gemm *problem,
                 const struct lathe_plan_options *options);

/* The preset that a variant starts from: PRESET of "custom(from PRESET)", else the variant itself.
 */
void lt_plan_preset(const char *variant, char preset[LATHE_NAME_SIZE]);

/* The words of the fields that decide the text, and of no other. As snprintf. */
size_t lt_plan_text_words(const struct lathe_plan *plan, char *buffer, size_t size);

/* Sets the family, or one field, by its word. */
enum lathe_status lt_family_set(enum lathe_family *family, const char *word,
                                struct lathe_error *err);
enum lathe_status lt_plan_set_key(struct lathe_plan *plan, const char *key, const char *value,
                                  struct lathe_error *err);

/* Reads words or JSON into a plan whose other fields are at their defaults; checks nothing. */
enum lathe_status lt_plan_read(struct lathe_plan *plan, const char *text, struct lathe_error *err);

#endif
