package engine

import "github.com/hybridge-search/hybridge/fault"

// Troubled is an engine that can report problems while it keeps working.
type Troubled interface {
	// Troubles returns the current problems, none if all is well.
	Troubles() []Trouble
}

// Codes of troubles.
const (
	DamagedChunks = "damaged_chunks"
	LostWrites    = "lost_writes"
	DiskFull      = "disk_full"
)

// Trouble is one problem, for operators.
type Trouble struct {
	Code string
	Text string // English; the locale has others
}

// Damaged is the trouble of corrupt chunks.
func Damaged(chunks int) Trouble {
	return Trouble{Code: DamagedChunks, Text: fault.New(fault.Corrupt, "%d stored chunks are damaged and left out of "+
		"searches; the log and hybridge kb check name them", chunks).Detail}
}

// Lost is the trouble of a data file without its newest changes.
func Lost(changes int64) Trouble {
	return Trouble{Code: LostWrites, Text: fault.New(fault.Corrupt, "the newest %d changes of the data file were lost "+
		"with its write-ahead log before this start", changes).Detail}
}

// Full is the trouble of an engine whose last write ran out of space.
func Full(engine string) Trouble {
	return Trouble{Code: DiskFull, Text: fault.New(fault.DiskFull, "the disk of engine %s is full: nothing can be "+
		"written, searches go on; make room", engine).Detail}
}
