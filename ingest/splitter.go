package ingest

import (
	"context"
	"errors"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Splitter makes the chunks that Files would write, for a client that sends
// them to a gateway by itself. It is safe for concurrent use.
type Splitter struct {
	pipeline *Pipeline
	target   target
}

// NewSplitter makes a splitter for a knowledge base as the gateway describes it.
func NewSplitter(kb engine.KnowledgeBase, options Options) *Splitter {
	p := &Pipeline{options: options.withDefaults()}
	if kb.EmbeddingModel != "" {
		p.embedder = modelName(kb.EmbeddingModel)
	}
	return &Splitter{pipeline: p, target: target{kb: kb}}
}

// SplitFile is a file that was found; ID is its document's.
type SplitFile struct {
	ID   string
	file file
}

// List finds the files of the paths, which are files or folders with all below
// them; one that does not exist is an error.
func (*Splitter) List(paths []string) ([]SplitFile, error) {
	found, err := FilesRequest{Paths: paths}.list()
	if err != nil {
		return nil, err
	}
	files := make([]SplitFile, len(found))
	for i, f := range found {
		files[i] = SplitFile{ID: f.path, file: f}
	}
	return files, nil
}

// Chunks splits a file. One that holds nothing to split is fault.Unsupported.
// All chunks carry the same MetadataSourceHash.
func (s *Splitter) Chunks(f SplitFile) ([]engine.Chunk, error) {
	b, err := s.pipeline.readFile(s.target, f.file)
	var skip *skipped
	if errors.As(err, &skip) {
		return nil, &fault.Error{Kind: fault.Unsupported, Field: "path", Detail: skip.why}
	}
	if err != nil {
		return nil, err
	}
	chunks := make([]engine.Chunk, len(b.pending))
	for i := range b.pending {
		chunks[i] = b.pending[i].chunk
	}
	return chunks, nil
}

// modelName stands in for the embedder of the gateway, which is part of a
// file's hash; it embeds nothing.
type modelName string

func (m modelName) Model() string { return string(m) }

func (modelName) Passages(context.Context, []string) ([][]float32, error) {
	return nil, fault.New(fault.Internal, "a splitter embeds nothing")
}
