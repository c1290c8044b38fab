package ingest

// SplitOptions says how large the chunks of files are.
type SplitOptions struct {
	Target  int
	Overlap int
}

func (o SplitOptions) withDefaults() SplitOptions { return o }
