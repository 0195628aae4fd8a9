/* Options and operands of a subcommand as tables, and what reads a command line into a struct by them.
 *
 *   typedef struct settings { const char *model; int64_t threads; bool json; sw_pairs emit; } settings;
 *   static const sw_option kOptions[] = {
 *       {"threads", 'j', SW_OPTION_INT, "N", "1", "threads to use", SW_INTO_INT(settings, threads), .min = 1, .max =
 * 64},
 *       {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, "write another form", SW_INTO_PAIRS(settings, emit),
 *        .choices = "sdy|jax"},
 *       SW_OPTION_JSON_INTO(settings, json),
 *   };
 *
 * The one table drives parsing, --help, the man page and the completion of three shells, so they cannot disagree.
 * SW_INTO_x fails to compile when the field has another type than the kind of option stores.
 */
#ifndef CLI_OPTIONS_H_
#define CLI_OPTIONS_H_

#include <stddef.h>

#include "shardwright/arena.h"

typedef enum sw_option_kind {
  SW_OPTION_FLAG,    /* bool; takes no value */
  SW_OPTION_TEXT,    /* const char * */
  SW_OPTION_FILE,    /* const char *; shells complete file names */
  SW_OPTION_DIR,     /* const char *; shells complete folders */
  SW_OPTION_CHOICE,  /* const char *, one of `choices` */
  SW_OPTION_INT,     /* int64_t in [min, max] */
  SW_OPTION_NUMBER,  /* double in [min, max] */
  SW_OPTION_PERCENT, /* the same; "1" and "1%" are one per cent */
  SW_OPTION_BYTES,   /* int64_t; "80GB" */
  SW_OPTION_WORDS,   /* sw_words; may be given several times */
  SW_OPTION_PAIRS,   /* sw_pairs: KEY=VALUE, may be given several times; the key is one of `choices` if there are any */
  SW_OPTION_KINDS,
} sw_option_kind;

typedef struct sw_words {
  const char **at;
  int n;
} sw_words;

typedef struct sw_pair {
  const char *key, *value;
} sw_pair;

typedef struct sw_pairs {
  sw_pair *at;
  int n;
} sw_pairs;

typedef struct sw_option {
  const char *name; /* long name, without dashes */
  char letter;      /* short name, 0: none */
  sw_option_kind kind;
  const char *value;      /* what stands for the value in the help, as "FILE"; NULL for a flag */
  const char *by_default; /* text read as if it had been given; NULL: the field stays zero */
  const char *help;       /* one sentence, lower case, no full stop */
  size_t into;            /* SW_INTO_x */
  const char *choices;    /* "a|b|c" */
  double min, max;        /* of a number; both 0: any */
  bool writes;            /* the file, or the values of words or pairs, are written; else a FILE is read */
} sw_option;

typedef struct sw_operand {
  const char *name; /* "MODEL" */
  const char *help;
  size_t into;         /* SW_INTO_TEXT, or SW_INTO_WORDS when repeated */
  const char *choices; /* "a|b|c"; NULL: any text */
  bool optional;
  bool repeated;      /* only the last one may be */
  bool names_command; /* shells complete subcommands, otherwise choices or file names */
} sw_operand;

#define SW_INTO_(T, field, type) (offsetof(T, field) + 0 * sizeof(_Generic(((T *)0)->field, type : 1)))
#define SW_INTO_FLAG(T, field) SW_INTO_(T, field, bool)
#define SW_INTO_TEXT(T, field) SW_INTO_(T, field, const char *)
#define SW_INTO_INT(T, field) SW_INTO_(T, field, int64_t)
#define SW_INTO_NUMBER(T, field) SW_INTO_(T, field, double)
#define SW_INTO_BYTES(T, field) SW_INTO_(T, field, int64_t)
#define SW_INTO_WORDS(T, field) SW_INTO_(T, field, sw_words)
#define SW_INTO_PAIRS(T, field) SW_INTO_(T, field, sw_pairs)

#define SW_OPTION_JSON_INTO(T, field) \
  { "json", 0, SW_OPTION_FLAG, NULL, NULL, "print the result as JSON", SW_INTO_FLAG(T, field) }
#define SW_OPTION_OUTPUT_INTO(T, field)                                                                                \
  {                                                                                                                    \
    "output", 'o', SW_OPTION_FILE, "FILE", "-", "where the result goes; - is standard output", SW_INTO_TEXT(T, field), \
        .writes = true                                                                                                 \
  }

/* A table and the struct that it fills. */
typedef struct sw_option_table {
  const sw_option *options;
  int n;
  void *into;
} sw_option_table;

/* Fill the structs with the defaults of their tables. */
SW_CHECKED sw_rc sw_options_default(const sw_option_table *sets, int n_sets, sw_arena *arena, sw_diag *d);

/* Read words[0..n): options into the structs, the rest into `operands` (in the arena; the texts are borrowed). "--"
 * ends the options; "-" is an operand. With `stop_at_operand` the first operand ends the reading. *used = words read.
 * An unknown option, a missing or a wrong value is SW_E_USAGE. */
SW_CHECKED sw_rc sw_options_parse(const sw_option_table *sets, int n_sets, const sw_words *words, bool stop_at_operand,
                                  sw_arena *arena, sw_words *operands, int *used, sw_diag *d);

/* Store operands by their table: too few, too many, or a word that is none of the choices is SW_E_USAGE. */
SW_CHECKED sw_rc sw_operands_store(const sw_operand *operands, int n, const sw_words *words, void *into,
                                   sw_arena *arena, sw_diag *d);

/* The i-th of "a|b|c" and its length; NULL beyond the last (or when `choices` is NULL). Borrowed, not terminated. */
const char *sw_option_word_at(const char *choices, int i, int *n);

#endif
