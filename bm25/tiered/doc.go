// Package tiered keeps BM25 indexes of chunks that live in a database: in memory
// (L1), in Redis (L2) and in the database (L3), so that they are built once.
package tiered
