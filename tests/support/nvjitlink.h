/* nvjitlink.h: nvJitLink for tests: does ptxas take a text, and what does it say. */
#ifndef LATHE_TESTS_NVJITLINK_H
#define LATHE_TESTS_NVJITLINK_H

#include <stdbool.h>

/* Group set-up: looks for the library; where there is none, says what was looked for. */
int nvjitlink_setup(void **state);

/* First line of a test: skips it if the library was not found. */
void nvjitlink_need(void);

/* Whether it links at all. */
bool nvjitlink_takes(const char *text, const char *arch);

/* Links a text with "-arch=ARCH" "-verbose" and returns the information log, to be freed. A text
 * that is refused fails the test with the error log. */
char *nvjitlink_log(const char *text, const char *arch, const char *name);

/* Links a text as above; the log must tell of no spilled register and hold no warning of the MMA
 * pipeline (C75xx: MMAs one after the other, setmaxnreg without effect). */
void nvjitlink_expect_clean(const char *text, const char *arch, const char *name);

#endif
