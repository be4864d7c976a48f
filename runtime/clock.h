/* clock.h: a clock of the host that never steps back. */
#ifndef LT_RUNTIME_CLOCK_H
#define LT_RUNTIME_CLOCK_H

double lt_now_us(void);

#endif
