/* Plans of files beside the one that is told of. */
#ifndef CLI_COMPARED_PLANS_H_
#define CLI_COMPARED_PLANS_H_

#include "cli/session.h"

#define SW_COMPARE_OPTION(T)                                                                                     \
  {                                                                                                              \
    "compare", 0, SW_OPTION_WORDS, "PLAN", NULL,                                                                 \
        "tell of this plan, too, as -o writes it, beside those that are made by rule", SW_INTO_WORDS(T, compare) \
  }

/* Add the plans of the files, each by the schedule that it has, to what the report compares with, by their files'
 * names.
 */
SW_CHECKED sw_rc sw_compare_with(const sw_words *files, sw_opened *s, sw_arena *arena, sw_report *r, sw_diag *d);

#endif
