/* draw.h: numbers that look random and are the same in every run, for tests that try thousands. */
#ifndef LATHE_TESTS_TEMPLATES_DRAW_H
#define LATHE_TESTS_TEMPLATES_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/* Where the draws begin; the seed is not 0. */
void draw_from(uint64_t seed);

/* From 0 to `below` - 1. */
uint32_t draw(uint32_t below);

bool one_in(uint32_t chances);

#define PICK(list) list[draw(sizeof list / sizeof list[0])]

#endif
