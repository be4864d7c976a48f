#include "tests/templates/draw.h"

static uint64_t state = 1;

void draw_from(uint64_t seed)
{
    state = seed;
}

uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % below);
}

bool one_in(uint32_t chances)
{
    return draw(chances) == 0;
}
