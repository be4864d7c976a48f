/* number.h: the number formats of PTX beside those that C has, bit by bit.
 *
 * Every conversion is exact: decode to f64 (which holds every value of every format below), then
 * round once. Sources: PTX ISA "Alternate Floating-Point Data Formats", "cvt", "Rounding
 * Modifiers"; OCP Microscaling Formats 1.0. */
#ifndef EMU_NUMBER_H
#define EMU_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum emu_format {
    EMU_FORMAT_F64,
    EMU_FORMAT_F32,
    EMU_FORMAT_F16,
    EMU_FORMAT_BF16,
    EMU_FORMAT_TF32,
    EMU_FORMAT_E4M3,
    EMU_FORMAT_E5M2,
    EMU_FORMAT_E2M3,
    EMU_FORMAT_E3M2,
    EMU_FORMAT_E2M1,
    EMU_FORMAT_UE8M0
};

/* What arithmetic gives for NaN: of f16 and bf16 alike. Of f64 it is what an invalid operation
 * gives; a NaN among the operands is the result itself, made quiet; of several it is b, then c,
 * then a (of a quotient a, then b). Measured on an H200. */
#define EMU_NAN_F16 UINT64_C(0x7fff)
#define EMU_NAN_F32 UINT64_C(0x7fffffff)
#define EMU_NAN_F64 UINT64_C(0xfff8000000000000)

enum emu_rounding {
    EMU_NEAREST_EVEN, /* .rn  */
    EMU_TO_ZERO,      /* .rz  */
    EMU_DOWN,         /* .rm  */
    EMU_UP,           /* .rp  */
    EMU_NEAREST_AWAY  /* .rna */
};

struct emu_narrowing {
    enum emu_rounding rounding;
    bool saturate_finite; /* .satfinite: what is too large, also infinity, becomes the largest   */
    bool saturate_unit;   /* .sat: to [0, 1], NaN to +0                                          */
    bool relu;            /* negative results to +0; NaN to the canonical NaN                    */
    bool flush;           /* .ftz: subnormal inputs and results of f32 to zero of the same sign  */
};

/* The value of the format's bits, in the low bits of the word. NaN gives a NaN. */
double emu_widen(enum emu_format format, uint64_t bits);

/* The bits of the value in the format, rounded once. NaN gives the format's canonical NaN (0x7fff
 * of f16 and bf16, 0x7fffffff of f32 as arithmetic gives it, 0x7fffe000 of tf32; what has no NaN:
 * its largest). */
uint64_t emu_narrow(enum emu_format format, double value, const struct emu_narrowing *how);

/* The same of an integer, which f64 may not hold. */
uint64_t emu_narrow_integer(enum emu_format format, bool negative, uint64_t magnitude,
                            const struct emu_narrowing *how);

/* a * b + c in f32 or f64, rounded once in the given direction. */
float emu_fma_f32(float a, float b, float c, enum emu_rounding rounding);
double emu_fma_f64(double a, double b, double c, enum emu_rounding rounding);
float emu_add_f32(float a, float b, enum emu_rounding rounding);
float emu_mul_f32(float a, float b, enum emu_rounding rounding);
float emu_div_f32(float a, float b, enum emu_rounding rounding);
float emu_sqrt_f32(float a, enum emu_rounding rounding);
double emu_add_f64(double a, double b, enum emu_rounding rounding);
double emu_mul_f64(double a, double b, enum emu_rounding rounding);
double emu_div_f64(double a, double b, enum emu_rounding rounding);
double emu_sqrt_f64(double a, enum emu_rounding rounding);

/* Zero of the same sign for subnormals, else the value. */
float emu_flush(float value);

#endif
