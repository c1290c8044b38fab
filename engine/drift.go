package engine

// DriftReport says how the engines of a knowledge base differ.
type DriftReport struct {
	Reference string  `json:"reference" doc:"The engine that the others are compared with."`
	Chunks    int     `json:"chunks" doc:"What it holds."`
	Engines   []Drift `json:"engines" doc:"The others."`
	Repaired  bool    `json:"repaired" doc:"The differences were removed."`

	Integrity []Integrity `json:"integrity,omitempty" doc:"Of each engine that keeps checksums of its own."`
}

// Drift lists the differences of one engine from the reference.
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

// Integrity reports the damage an engine finds in its own storage of a knowledge base.
type Integrity struct {
	Engine   string   `json:"engine"`
	Chunks   int      `json:"chunks" doc:"Those that are sound."`
	All      []string `json:"-"` // ids of damaged chunks
	Damaged  IDs      `json:"damaged" doc:"Chunks that are not as they were written; the embedded engine leaves them out of searches."`
	Unsealed int      `json:"unsealed" doc:"Chunks of a version that knew no checksums; repair gives them one."`
	Index    string   `json:"index,omitempty" doc:"What is wrong with an index of the table; repair makes it anew."`
	Settings string   `json:"settings,omitempty" locale:"text" doc:"What others changed of the settings of the index so that searches or writes fail; repair undoes it."`
	Restored int      `json:"restored,omitempty" doc:"Damaged chunks that were taken from another engine."`
}

// Sound reports whether nothing is wrong.
func (i *Integrity) Sound() bool { return i.Damaged.Count == 0 && i.Index == "" && i.Settings == "" }
