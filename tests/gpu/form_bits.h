/* form_bits.h: drawn bits, the same for an index every time. */
#ifndef LATHE_TESTS_FORM_BITS_H
#define LATHE_TESTS_FORM_BITS_H

#include <stdint.h>

uint64_t form_draw_any(uint64_t index);
/* Of a float with so many bits of exponent and mantissa: specials, neighbours of 1, any. */
uint64_t form_draw_float(uint64_t index, int exponent, int mantissa);
/* Finite, for sums: near 1, widely spread by the eighth of the exponents around it, or zero. */
uint64_t form_draw_finite(uint64_t index, int exponent, int mantissa);

#endif
