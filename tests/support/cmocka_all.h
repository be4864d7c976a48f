/* cmocka_all.h: cmocka with the headers that it wants to have been included before. */
#ifndef LATHE_TESTS_CMOCKA_ALL_H
#define LATHE_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
