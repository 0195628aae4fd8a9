// The same program is one in C++.
#include "consumer.c"
