// Package benchmarks measures the whole program against what it stands on and
// what it is compared with. Every figure is a ratio or a difference of things
// measured in turn in one run, because the machine is never as fast as it was a
// minute ago. `make bench` runs them, and package report writes their output into
// docs/benchmarks.md.
//
//	measure_test.go     rounds in turn, percentiles, throughput
//	data_test.go        chunks and questions with their vectors
//	process_test.go     the real binary in a process of its own, its CPU and memory
//	recorder_test.go    what the gateway sends to Elasticsearch, and sending it again
//	proxy_test.go       the least gateway there can be: forward and decode
//	servers_test.go     the gateway on Elasticsearch and on its embedded engine
//	embedded_test.go    the embedded engine beside Elasticsearch
//	growth_test.go      every preset on both engines while a knowledge base grows
//	memory_test.go      the memory of the program at rest
//	postgres_test.go    PostgreSQL beside the same in Python, writing, loading an index
//	ranks_test.go       rrf's answers beside the same in Python, and a golden of them
//	bm25_test.go        package bm25 beside tantivy, bm25s and rank_bm25
package benchmarks
