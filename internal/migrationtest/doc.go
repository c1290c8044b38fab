// Package migrationtest is the suite that every engine whose knowledge bases change shape must
// pass, through the service that plans and runs migrations.
//
//	site.go            a gateway of a test, and what it is asked
//	traffic.go         what writes, deletes and searches meanwhile
//	cases*.go          the cases
package migrationtest
