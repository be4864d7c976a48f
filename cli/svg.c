#include "cli/svg.h"

#include <stdarg.h>
#include <stdlib.h>

enum { TEXT_SIZE = 512 };

static const char ink[] = "#222222";

void svg_begin(struct svg *svg, int width, int height)
{
    *svg = (struct svg){.stream = NULL};
    svg->stream = open_memstream(&svg->text, &svg->size);
    if (svg->stream)
        fprintf(svg->stream,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" fill=\"%s\">\n"
                "  <rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                width, height, width, height, ink, width, height);
}

char *svg_end(struct svg *svg)
{
    if (!svg->stream)
        return NULL;
    fputs("</svg>\n", svg->stream);
    if (fclose(svg->stream) != 0) {
        free(svg->text);
        svg->text = NULL;
    }
    svg->stream = NULL;
    return svg->text;
}

void svg_rect(struct svg *svg, double x, double y, double width, double height, const char *fill)
{
    if (svg->stream)
        fprintf(svg->stream,
                "  <rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
                y, width, height, fill);
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, const char *stroke,
              double width)
{
    if (svg->stream)
        fprintf(svg->stream,
                "  <line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"%.1f\"/>\n",
                x1, y1, x2, y2, stroke, width);
}

void svg_dot(struct svg *svg, double x, double y, double radius, const char *fill)
{
    if (svg->stream)
        fprintf(svg->stream, "  <circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", x, y,
                radius, fill);
}

void svg_arrow(struct svg *svg, double x, double y, int direction, const char *fill)
{
    enum { LENGTH = 8, HALF = 4 };
    double back = x - direction * LENGTH;

    if (svg->stream)
        fprintf(svg->stream, "  <polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"%s\"/>\n",
                x, y, back, y - HALF, back, y + HALF, fill);
}

static void put_character(FILE *stream, unsigned char c)
{
    switch (c) {
    case '&':
        fputs("&amp;", stream);
        return;
    case '<':
        fputs("&lt;", stream);
        return;
    case '>':
        fputs("&gt;", stream);
        return;
    case '"':
        fputs("&quot;", stream);
        return;
    default:
        fputc(c < 0x20 || c >= 0x7f ? '?' : c, stream);
    }
}

void svg_text(struct svg *svg, double x, double y, int size, enum svg_anchor anchor,
              const char *format, ...)
{
    static const char *const anchors[] = {
        [SVG_START] = "start", [SVG_MIDDLE] = "middle", [SVG_END] = "end"};
    char text[TEXT_SIZE];
    va_list arguments;

    if (!svg->stream)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(svg->stream, "  <text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\">", x, y,
            size, anchors[anchor]);
    for (const char *at = text; *at; at++)
        put_character(svg->stream, (unsigned char)*at);
    fputs("</text>\n", svg->stream);
}
