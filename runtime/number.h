/* number.h: the element types as numbers: conversion by hand, round to nearest even, and the
 * spacing of each type. The kernels' answers are judged by these, so they lean on nothing that a
 * compiler may or may not have. NaN becomes 0x7fff (of 8 bits 0x7f, of tf32 0x7fffe000), as the
 * hardware's conversions give it. */
#ifndef LT_RUNTIME_NUMBER_H
#define LT_RUNTIME_NUMBER_H

#include "include/lathe.h"

float lt_f32_from_f16(uint16_t bits);
float lt_f32_from_bf16(uint16_t bits);
float lt_f32_from_e4m3(uint8_t bits);
float lt_f32_from_e5m2(uint8_t bits);
uint16_t lt_f16_from_f32(float value);
uint16_t lt_bf16_from_f32(float value);

/* As cvt.rn.satfinite: what is too large, infinity too, becomes the largest finite number. */
uint8_t lt_e4m3_from_f32(float value);
uint8_t lt_e5m2_from_f32(float value);

/* An f32 whose low 13 bits are zero; as TMA makes it in a map of TFLOAT32. */
uint32_t lt_tf32_from_f32(float value);

/* Element `index` of an array; storing rounds once, and keeps within the type where it has no
 * infinity. An element of tf32 is any f32, and is rounded when it is loaded too. */
double lt_number_load(enum lathe_type type, const void *array, int64_t index);
void lt_number_store(enum lathe_type type, void *array, int64_t index, float value);

/* The value rounded to the type, as storing does. */
double lt_number_round(enum lathe_type type, float value);

/* Distance of the type's neighbouring numbers around a finite value (1 ulp). */
double lt_number_spacing(enum lathe_type type, double value);

/* The least magnitude that rounds to infinity: half a spacing beyond the largest finite number.
 * Infinite for the types that saturate instead: e4m3, e5m2, and whole numbers. */
double lt_number_overflow(enum lathe_type type);
double lt_number_largest(enum lathe_type type);

#endif
