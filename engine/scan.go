package engine

import "context"

// Scanner reads a knowledge base whole, which comparing and copying need. An
// engine that implements it can hold a knowledge base together with others.
type Scanner interface {
	// Scan gives chunks in the order of their ids (by bytes), hidden ones
	// included, with their vectors; a vector's length may have become 1.
	Scan(ctx context.Context, req ScanRequest) ([]Chunk, error)
}

// ScanRequest asks for a page of a knowledge base.
type ScanRequest struct {
	KB    KnowledgeBase
	After string   // continue after this id; empty: from the start
	IDs   []string // these chunks only; nil: all
	Limit int
}

// Checker compares what several engines hold of one knowledge base.
type Checker interface {
	// Check reports where the engines differ and, with repair, makes the others
	// like the reference.
	Check(ctx context.Context, kb KnowledgeBase, repair bool) (*DriftReport, error)
}

// DriftReport says how the engines of a knowledge base differ.
type DriftReport struct {
	Reference string  `json:"reference" doc:"The engine that the others are compared with."`
	Chunks    int     `json:"chunks" doc:"What it holds."`
	Engines   []Drift `json:"engines" doc:"The others."`
	Repaired  bool    `json:"repaired" doc:"The differences were removed."`
}

// Drift is how one engine differs from the reference.
type Drift struct {
	Engine  string `json:"engine"`
	Chunks  int    `json:"chunks"`
	Missing IDs    `json:"missing" doc:"Chunks that it lacks."`
	Extra   IDs    `json:"extra" doc:"Chunks that it alone has."`
	Stale   IDs    `json:"stale" doc:"Chunks that differ in content or vector."`
}

// Differs reports whether there is any difference.
func (d *Drift) Differs() bool { return d.Missing.Count+d.Extra.Count+d.Stale.Count > 0 }

// IDs counts chunks and names the first hundred.
type IDs struct {
	Count int      `json:"count"`
	First []string `json:"first,omitempty" doc:"At most 100 of them."`
}

const namedIDs = 100

// Add counts one more.
func (l *IDs) Add(id string) {
	if l.Count++; len(l.First) < namedIDs {
		l.First = append(l.First, id)
	}
}
