/* golden.h: files that hold what a test has to find, byte for byte.
 *
 * They lie under tests/golden/ of the source tree. LATHE_UPDATE_GOLDEN=1 in the environment writes
 * them instead; the difference is then reviewed like code. */
#ifndef LATHE_TESTS_GOLDEN_H
#define LATHE_TESTS_GOLDEN_H

/* Compares (or writes) the file of that name; a difference fails the test with its first line. */
void golden_check(const char *name, const char *text);

/* The file's text, to be freed; fails the test if there is none. */
char *golden_read(const char *name);

/* Calls `each` for all files there whose names end so. */
void golden_for_each(const char *ending, void (*each)(const char *name));

#endif
