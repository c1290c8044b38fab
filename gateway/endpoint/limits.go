package endpoint

import (
	"time"

	"github.com/hybridge-search/hybridge/ingest"
)

// Limits bound the size and the time of requests. A zero value means the default.
type Limits struct {
	JSONBytes     int           // of a JSON body; 1 MiB
	Request       time.Duration // for a request with a JSON answer; 30 s
	Ingest        time.Duration // for a stream of chunks; 2 h
	Idle          time.Duration // between two reads of a body, or two requests; 60 s
	ShutdownGrace time.Duration // for requests in flight at the end; 15 s
	SpoolBytes    int           // of results or an upload in memory, the rest goes to a file; 1 MiB
	FileBytes     int           // of an uploaded file; ingest.DefaultMaxFile
	AnswerBytes   int           // of a JSON answer; 16 MiB
	Rate          int           // requests a second; 50,000
	KeyRate       int           // of a key; 10,000
	Concurrent    int           // requests at a time; 4,000
	KeyConcurrent int           // of a key; 1,000
	Answers       int           // by a model at a time; 16
	WrongKeys     int           // of an address at once, and one more each second; 10
	SendingBytes  int           // of all large answers until their clients have read them; 256 MiB
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.JSONBytes, 1<<20)
	orDefault(&l.Request, 30*time.Second)
	orDefault(&l.Ingest, 2*time.Hour)
	orDefault(&l.Idle, time.Minute)
	orDefault(&l.ShutdownGrace, 15*time.Second)
	orDefault(&l.SpoolBytes, 1<<20)
	orDefault(&l.FileBytes, ingest.DefaultMaxFile)
	orDefault(&l.AnswerBytes, 16<<20)
	orDefault(&l.SendingBytes, 256<<20)
	orDefault(&l.Rate, 50_000)
	orDefault(&l.WrongKeys, 10)
	orDefault(&l.KeyRate, 10_000)
	orDefault(&l.Concurrent, 4_000)
	orDefault(&l.KeyConcurrent, 1_000)
	orDefault(&l.Answers, 16)
	return l
}

func orDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}
