/* element.h: numbers of the types that kernels know: from words to bytes, and back. */
#ifndef LT_CLI_ELEMENT_H
#define LT_CLI_ELEMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum element_kind { ELEMENT_UNSIGNED, ELEMENT_SIGNED, ELEMENT_FLOAT };

struct element {
    const char *name;
    enum element_kind kind;
    int bytes;
    int fraction; /* of a float: bits behind the point */
};

/* The names of all, apart by spaces. */
extern const char element_names[];

/* Null when there is none of that name, which need not end at `length`. */
const struct element *element_find(const char *name, size_t length);

/* Writes the number that the text is, little-endian; false where it is none of the type. */
bool element_parse(const struct element *element, const char *text, unsigned char *bytes);
/* Writes the number, rounded to nearest even and, as an integer, cut to its bits. */
void element_store(const struct element *element, double number, unsigned char *bytes);

enum { ELEMENT_TEXT_SIZE = 40 };
const char *element_text(const struct element *element, const unsigned char *bytes,
                         char text[ELEMENT_TEXT_SIZE]);
/* Null for what is no number, as json_number(). */
json_t *element_json(const struct element *element, const unsigned char *bytes);

#endif
