#include "cli/build_id.h"
#include "cli/git_id.h"

const char *build_git_id(void)
{
    return LATHE_GIT_ID;
}
