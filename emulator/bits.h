/* bits.h: floating-point numbers as their bits, and back. */
#ifndef EMU_BITS_H
#define EMU_BITS_H

#include <stdint.h>
#include <string.h>

static inline float emu_f32_of(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static inline uint32_t emu_f32_bits(float value)
{
    uint32_t word;

    memcpy(&word, &value, sizeof word);
    return word;
}

static inline double emu_f64_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t emu_f64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
