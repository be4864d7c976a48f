/* tensor_text.h: what the kernels of all cases begin and end with. */
#ifndef LATHE_TESTS_TENSOR_TEXT_H
#define LATHE_TESTS_TENSOR_TEXT_H

#include "tests/gpu/tensor_case.h"

/* Appends to the case's text. */
void tensor_say(struct tensor_case *it, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The module's head and the kernel's declarations: %memory, %map (a generic address), %thread,
 * %rank of the CTA in its cluster, %space (shared memory), %first (thread 0), %status and some to
 * work with: %p, %q, %i, %n, %to, %at. `declarations` are more of them. */
void tensor_say_begin(struct tensor_case *it, const char *declarations);
/* Shared memory is the image, and all asynchronous work sees it. */
void tensor_say_fill(struct tensor_case *it);
/* All threads of the cluster meet. */
void tensor_say_meet(struct tensor_case *it);
/* Gives %status and shared memory back. */
void tensor_say_end(struct tensor_case *it);

#endif
