/* number.h: the element types as numbers: conversion by hand, round to nearest even, and the
 * spacing of each type. The kernels' answers are judged by these, so they lean on nothing that a
 * compiler may or may not have. NaN becomes 0x7fff, as the hardware's conversions give it. */
#ifndef LT_RUNTIME_NUMBER_H
#define LT_RUNTIME_NUMBER_H

#include "include/lathe.h"

float lt_f32_from_f16(uint16_t bits);
float lt_f32_from_bf16(uint16_t bits);
uint16_t lt_f16_from_f32(float value);
uint16_t lt_bf16_from_f32(float value);

/* Element `index` of an array of f16, bf16 or f32; storing rounds once. */
float lt_number_load(enum lathe_type type, const void *array, int64_t index);
void lt_number_store(enum lathe_type type, void *array, int64_t index, float value);

/* The value rounded to the type. */
float lt_number_round(enum lathe_type type, float value);

/* Distance of the type's neighbouring numbers around a finite value (1 ulp). */
double lt_number_spacing(enum lathe_type type, double value);

/* The least magnitude that rounds to infinity: half a spacing beyond the largest finite number. */
double lt_number_overflow(enum lathe_type type);

#endif
