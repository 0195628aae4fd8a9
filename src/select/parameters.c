/* The table of parameters: what they are by default, and how one is set. */
#include "select/parameters.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const sw_parameters sel_by_default = {
#define PARAMETER(name, unit, by_default, least, most, trades) .name = (by_default),
#include "select/parameters.def"
#undef PARAMETER
};

/* A row, and where its value stands. */
static const struct {
  sw_parameter row;
  size_t at;
} kParameters[] = {
#define PARAMETER(name, unit, by_default, least, most, trades) \
  {{#name, unit, by_default, least, most, trades}, offsetof(sw_parameters, name)},
#include "select/parameters.def"
#undef PARAMETER
};
enum { N_PARAMETERS = sizeof kParameters / sizeof kParameters[0] };

const sw_parameter *sw_parameter_at(int k) { return k >= 0 && k < N_PARAMETERS ? &kParameters[k].row : NULL; }

sw_rc sw_parameters_set(sw_parameters **p, const char *text, sw_arena *arena, sw_diag *d) {
  const char *value = strchr(text, '=');
  const size_t n = value ? (size_t)(value - text) : strlen(text);
  char *end;
  int k = 0;
  if (!value) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%s' sets no parameter; expected NAME=VALUE", text);
  while (k < N_PARAMETERS && (strncmp(kParameters[k].row.name, text, n) != 0 || kParameters[k].row.name[n])) k++;
  if (k == N_PARAMETERS)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no parameter '%.*s'; `shardwright solve --parameters` lists them",
                   (int)n, text);
  const sw_parameter *row = &kParameters[k].row;
  const double v = strtod(value + 1, &end);
  if (end == value + 1 || *end || !(v >= row->least && v <= row->most))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "parameter %s is '%s'; expected a number from %g to %g", row->name,
                   value + 1, row->least, row->most);
  if (!*p) {
    SW_ARENA_NEW(*p, arena, 1, d);
    **p = sel_by_default;
  }
  memcpy((char *)*p + kParameters[k].at, &v, sizeof v);
  return SW_OK;
}
