/* build_id.h: which commit the command was built from, for records of what it measured. Nothing
 * that the library writes depends on it. */
#ifndef LT_CLI_BUILD_ID_H
#define LT_CLI_BUILD_ID_H

/* "8ee7e1c1cdf6", with "-dirty" behind it where tracked files differed from the commit; "unknown"
 * where the source was no checkout, or there was no git. */
const char *build_git_id(void);

#endif
