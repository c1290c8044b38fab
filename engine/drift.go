package engine

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
