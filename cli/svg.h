/* svg.h: a picture as SVG text, element by element, on a white ground, so that it can be read
 * whatever surrounds it. The same calls give the same bytes. */
#ifndef LT_CLI_SVG_H
#define LT_CLI_SVG_H

#include <stdio.h>

struct svg {
    FILE *stream; /* null: without memory, all calls do nothing */
    char *text;
    size_t size;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

void svg_begin(struct svg *svg, int width, int height);
/* The text, to be freed; null without memory. */
char *svg_end(struct svg *svg);

void svg_rect(struct svg *svg, double x, double y, double width, double height, const char *fill);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *stroke,
              double width);
void svg_dot(struct svg *svg, double x, double y, double radius, const char *fill);
/* A triangle with its tip at x, to the left (-1) or to the right (1). */
void svg_arrow(struct svg *svg, double x, double y, int direction, const char *fill);
/* Whatever it holds: what means something to XML is written as a reference, what XML cannot hold as
 * a question mark. */
void svg_text(struct svg *svg, double x, double y, int size, enum svg_anchor anchor,
              const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
