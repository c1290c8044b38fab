package main

/*
#include <sys/prctl.h>

// Before Go's runtime starts its threads, which inherit it.
static void __attribute__((constructor)) coarse_timers(void) { prctl(PR_SET_TIMERSLACK, 1000000UL); }
*/
import "C"

// Timers may be 1 ms late. While anything runs, Go's runtime looks after its threads
// every 20 µs and, when there is nothing to do, by and by only every 10 ms
// (runtime.sysmon). A search on Elasticsearch is short work between long waits, after
// each of which that begins anew: it took an eighth of the processor time.
// https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
