/* child.h: running what may crash in a process of its own, so that the other tests still run. */
#ifndef LATHE_TESTS_CHILD_H
#define LATHE_TESTS_CHILD_H

/* What `act` returns (0 to 255) in a child process, or minus the signal that ended it. What it
 * writes to standard error is dropped. */
int result_in_child(int (*act)(void));

#endif
