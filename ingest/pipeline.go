// Package ingest writes chunks: from a stream of JSON Lines, by replacing documents, or from
// files that are split into chunks. Writing the same thing again writes to the same ids, so
// a run that was killed can just be repeated.
//
// A stream has four stages: read and check, embed what has no vector, write, report. Each
// has at most one batch at a time, so memory does not grow with the input, and a slow engine
// slows the reader down.
package ingest

import (
	"context"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/parse"
)

// Embedder turns texts into vectors, [len(texts)][dim]float32 in the order of the texts.
type Embedder interface {
	Passages(ctx context.Context, texts []string) ([][]float32, error)
	Model() string
}

// DefaultMaxFile is the default size of the largest file that is split, in bytes.
const DefaultMaxFile = 16 << 20

// SplitOptions say how large the chunks of files are.
type SplitOptions = parse.Options

// Options of a Pipeline; a zero value means the default in parentheses.
type Options struct {
	BatchLines  int // lines written at once (256)
	BatchBytes  int // bytes written at once, if that limit is reached first (4 MiB)
	MaxLine     int // bytes; a longer line fails alone (8 MiB)
	MaxEmbed    int // bytes of a text that are embedded, as models read no more (32 KiB)
	MaxDocument int // bytes of a document that is replaced as a whole (64 MiB)
	MaxFile     int // bytes of a file that is split (DefaultMaxFile)
	// Split says how large the chunks of files are.
	Split SplitOptions
	// Embedders are further models, by name, for the knowledge bases that name them.
	Embedders map[string]Embedder
	// Parser splits files (parse.Here).
	Parser parse.Parser
}

func (o Options) withDefaults() Options {
	for _, setting := range []struct {
		value    *int
		fallback int
	}{
		{&o.BatchLines, 256},
		{&o.BatchBytes, 4 << 20},
		{&o.MaxLine, 8 << 20},
		{&o.MaxEmbed, engine.MaxEmbedded},
		{&o.MaxDocument, 64 << 20},
		{&o.MaxFile, DefaultMaxFile},
	} {
		if *setting.value <= 0 {
			*setting.value = setting.fallback
		}
	}
	o.Split = o.Split.WithDefaults()
	if o.Parser == nil {
		o.Parser = parse.Here{}
	}
	return o
}

// Pipeline writes chunks into the knowledge bases of a catalog. It is safe for
// concurrent use.
type Pipeline struct {
	catalog  *catalog.Catalog
	embedder Embedder
	options  Options
}

// New returns a pipeline. If embedder is nil, chunks that bring no vector are found by
// keywords only.
func New(c *catalog.Catalog, embedder Embedder, options Options) *Pipeline {
	return &Pipeline{catalog: c, embedder: embedder, options: options.withDefaults()}
}

// target is a knowledge base to read or write within a scope.
type target struct {
	kb     engine.KnowledgeBase
	engine engine.Engine
	scope  access.Scope
}

// readable finds a knowledge base.
func (p *Pipeline) readable(ctx context.Context, scope access.Scope, id string) (target, error) {
	kb, e, err := p.catalog.Get(ctx, scope, id)
	return target{kb: kb, engine: e, scope: scope}, err
}

// writable finds a knowledge base; one that is attached is refused.
func (p *Pipeline) writable(ctx context.Context, scope access.Scope, id string) (target, error) {
	t, err := p.readable(ctx, scope, id)
	if err != nil {
		return target{}, err
	}
	if t.kb.Attach != nil {
		return target{}, fault.New(fault.ReadOnly,
			"knowledge base %q is attached to the index %q, which is read but never written to", id, t.kb.Attach.Index)
	}
	return t, nil
}
