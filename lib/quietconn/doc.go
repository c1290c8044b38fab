// Package quietconn reads and writes TCP connections without the precautions that Go
// takes for system calls that may block.
//
// Before a system call Go prepares to hand the processor to another goroutine, and wakes
// the thread that would do so (runtime.sysmon) if it sleeps. Go's sockets never block:
// the call returns at once, and the goroutine waits for the poller. A search on
// Elasticsearch is short work between four long waits. At each of them sysmon woke up,
// looked around a few times and went back to sleep, which made three quarters of all
// thread switches and took an eighth to a fifth of the processor time.
//
// Only reads and writes are replaced, on Linux. Deadlines, closing and waiting stay the
// standard library's, as do connections other than TCP.
package quietconn
