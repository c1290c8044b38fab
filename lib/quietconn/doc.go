// Package quietconn reads and writes TCP connections without the care that Go takes of
// system calls that may block.
//
// Before a system call Go prepares to lend the processor to another goroutine, and wakes
// the thread that would do so (runtime.sysmon), if that sleeps as nothing ran. Go's
// sockets never block: they say that they would, and the goroutine then waits for the
// poller. A search on Elasticsearch is short work between long waits, four of them; each
// time sysmon woke up, looked around a few times and went back to sleep, which were
// three quarters of all thread switches and an eighth to a fifth of the processor time.
//
// Only what moves bytes is replaced, on Linux. Deadlines, closing and waiting stay the
// standard library's, and so do connections that are none of TCP.
package quietconn
