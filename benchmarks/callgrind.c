/* Start and stop counting instructions, where a program runs under valgrind's callgrind; nothing elsewhere. */

#include <valgrind/callgrind.h>

void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }

void stop(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
