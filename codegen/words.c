#include "codegen/words.h"

#include <string.h>

const struct lt_word lt_words_type[] = {
    {"f16", LATHE_F16},   {"bf16", LATHE_BF16}, {"f32", LATHE_F32},
    {"tf32", LATHE_TF32}, {"e4m3", LATHE_E4M3}, {"e5m2", LATHE_E5M2},
    {"int8", LATHE_INT8}, {"s32", LATHE_S32},   {NULL, 0},
};

const struct lt_word lt_words_layout[] = {
    {"tn", LATHE_TN}, {"nn", LATHE_NN}, {"nt", LATHE_NT}, {"tt", LATHE_TT}, {NULL, 0},
};

const struct lt_word lt_words_beta[] = {
    {"0", LATHE_BETA_ZERO},
    {"any", LATHE_BETA_ANY},
    {NULL, 0},
};

const struct lt_word lt_words_static[] = {
    {"none", LATHE_STATIC_NONE},
    {"k", LATHE_STATIC_K},
    {"m,n,k", LATHE_STATIC_MNK},
    {NULL, 0},
};

const struct lt_word lt_words_arch[] = {
    {"sm_80", LATHE_SM_80},     {"sm_86", LATHE_SM_86},     {"sm_89", LATHE_SM_89},
    {"sm_90a", LATHE_SM_90A},   {"sm_100a", LATHE_SM_100A}, {"sm_103a", LATHE_SM_103A},
    {"sm_110a", LATHE_SM_110A}, {"sm_120a", LATHE_SM_120A}, {NULL, 0},
};

const struct lt_word lt_words_copy[] = {
    {"threads", LATHE_COPY_THREADS},
    {"tma", LATHE_COPY_TMA},
    {NULL, 0},
};

const struct lt_word lt_words_flow[] = {
    {"stepwise", LATHE_STEPWISE},
    {"serial", LATHE_SERIAL},
    {"pipelined", LATHE_PIPELINED},
    {"specialised", LATHE_SPECIALISED},
    {NULL, 0},
};

const struct lt_word lt_words_mma[] = {
    {"sync", LATHE_MMA_SYNC},
    {"wgmma", LATHE_MMA_WGMMA},
    {NULL, 0},
};

const struct lt_word lt_words_stage_index[] = {
    {"runtime", LATHE_STAGE_RUNTIME},
    {"constant", LATHE_STAGE_CONSTANT},
    {NULL, 0},
};

const struct lt_word lt_words_schedule[] = {
    {"persistent", LATHE_PERSISTENT}, {"single", LATHE_SINGLE},   {"grid", LATHE_GRID},
    {"dynamic", LATHE_DYNAMIC},       {"grouped", LATHE_GROUPED}, {NULL, 0},
};

const struct lt_word lt_words_switch[] = {
    {"1", LATHE_ON},
    {"0", LATHE_OFF},
    {NULL, 0},
};

const struct lt_word lt_words_family[] = {
    {"gemm", LATHE_GEMM},
    {NULL, 0},
};

const char *lt_word_of(const struct lt_word *words, int value)
{
    for (; words->word; words++)
        if (words->value == value)
            return words->word;
    return NULL;
}

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

/* Optimal string alignment over the first characters; nobody misspells a word of a hundred. */
int lt_edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    int row[3][LONGEST + 1];
    int a_length = (int)strnlen(a, LONGEST);
    int b_length = (int)strnlen(b, LONGEST);

    for (int j = 0; j <= b_length; j++)
        row[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *now = row[i % 3];
        const int *before = row[(i + 2) % 3];
        const int *earlier = row[(i + 1) % 3];

        now[0] = i;
        for (int j = 1; j <= b_length; j++) {
            bool same = a[i - 1] == b[j - 1];

            now[j] = smallest(before[j] + 1, now[j - 1] + 1, before[j - 1] + (same ? 0 : 1));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                now[j] > earlier[j - 2] + 1)
                now[j] = earlier[j - 2] + 1;
        }
    }
    return row[a_length % 3][b_length];
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t length = 0;

    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

const char *lt_nearer(const char *word, const char *nearest, const char *candidate)
{
    int distance = lt_edit_distance(word, candidate);

    if ((size_t)distance * 2 > larger(strlen(word), strlen(candidate)))
        return nearest; /* more is wrong than right: no guess is better than that one */
    if (!nearest)
        return candidate;

    int least = lt_edit_distance(word, nearest);
    bool nearer = distance < least;

    if (distance == least)
        nearer = common_prefix(word, candidate) > common_prefix(word, nearest);
    return nearer ? candidate : nearest;
}

bool lt_parse_int(const char *string, int64_t *number)
{
    bool negative = *string == '-';
    int64_t sum = 0;

    if (negative)
        string++;
    if (*string == '\0')
        return false;
    for (; *string; string++) {
        if (*string < '0' || *string > '9')
            return false;
        if (sum > (INT64_MAX - (*string - '0')) / 10)
            return false;
        sum = sum * 10 + (*string - '0');
    }
    *number = negative ? -sum : sum;
    return true;
}

int lt_parse_product(const char *string, int least, int most, int *numbers)
{
    int parsed[4];
    int count = 0;

    for (;;) {
        int digits = 0;
        int number = 0;

        for (; *string >= '0' && *string <= '9'; string++, digits++)
            number = digits < 8 ? number * 10 + (*string - '0') : 0;
        if (digits == 0 || number == 0 || count == most)
            return 0;
        parsed[count++] = number;
        if (*string == '\0')
            break;
        if (*string != 'x')
            return 0;
        string++;
    }
    if (count < least)
        return 0;
    memcpy(numbers, parsed, (size_t)count * sizeof *numbers);
    return count;
}
