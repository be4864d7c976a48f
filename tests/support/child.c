#include "tests/support/child.h"

#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_the_child(int (*act)(void))
{
    static const int deadly[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGABRT};
    int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    _exit(act());
}

int result_in_child(int (*act)(void))
{
    int status = 0;

    fflush(stdout);

    pid_t child = fork();

    if (child == 0)
        be_the_child(act);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
