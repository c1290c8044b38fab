// Package demo fills a knowledge base with the documents that come with the program.
package demo

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/catalog"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest"
)

// Options say which documents go where. All but Logger are required.
type Options struct {
	Catalog   *catalog.Catalog
	Pipeline  *ingest.Pipeline
	Documents fs.FS
	Scope     access.Scope
	ID, Name  string // of the knowledge base

	// Dimensions and Model describe the embedding model; 0 and "" without one.
	Dimensions int
	Model      string

	Logger *slog.Logger
	// Progress is told how many documents of how many are done; nil: nobody is.
	Progress func(done, total int)
}

// Fill brings the knowledge base to hold exactly the documents. If it was made with another
// embedding model, or without one, it is recreated; but while there is no model, one with
// vectors is left alone.
func Fill(ctx context.Context, o Options) error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("knowledge_base", o.ID)
	proceed, err := o.prepare(ctx)
	if err != nil || !proceed {
		return err
	}
	summary, err := o.Pipeline.Files(ctx, o.Scope,
		ingest.FilesRequest{KB: o.ID, Folders: []fs.FS{o.Documents}, Refresh: true}, o.progress)
	if err != nil {
		return err
	}
	removed, err := o.removeStale(ctx)
	if err != nil {
		return err
	}
	o.Logger.Info("the demo is ready", "documents", summary.Files-summary.Skipped,
		"unchanged", summary.Unchanged, "written", summary.Written, "removed", removed)
	if summary.Failed > 0 {
		return fault.New(fault.Unavailable, "%d of %d documents of the demo could not be written",
			summary.Failed, summary.Files)
	}
	return nil
}

// prepare creates the knowledge base, and reports whether documents are to be written.
func (o *Options) prepare(ctx context.Context) (bool, error) {
	described, err := o.Catalog.Describe(ctx, o.Scope, o.ID)
	switch {
	case fault.Is(err, fault.NotFound):
		return true, o.create(ctx)
	case err != nil:
		return false, err
	}
	kb := &described.KnowledgeBase
	switch {
	case kb.Name != o.Name || kb.Kind != engine.KindChunks || kb.Attach != nil:
		return false, fault.New(fault.Conflict,
			"there is a knowledge base %q that is not the demo; it is left alone", o.ID)
	case o.Dimensions == 0 && kb.Dimensions > 0 && described.Chunks > 0:
		o.Logger.Warn("the demo has vectors and there is no embedding model: it is searched by keywords only")
		return false, nil
	case o.Dimensions == kb.Dimensions && (o.Dimensions == 0 || o.Model == kb.EmbeddingModel):
		return true, nil
	}
	o.Logger.Info("the demo is made anew for another embedding model", "model", o.Model)
	if err := o.Catalog.Delete(ctx, o.Scope, o.ID); err != nil {
		return false, err
	}
	return true, o.create(ctx)
}

func (o *Options) create(ctx context.Context) error {
	_, err := o.Catalog.Create(ctx, o.Scope, catalog.Spec{
		ID: o.ID, Name: o.Name, Dimensions: &o.Dimensions, EmbeddingModel: o.Model,
	})
	return err
}

func (o *Options) progress(r ingest.FileReport) {
	if o.Progress != nil {
		o.Progress(r.Done, r.Total)
	}
	if r.Status == ingest.FileUnchanged {
		return
	}
	log := o.Logger.With("document", r.DocumentID, "status", string(r.Status), "done", r.Done, "of", r.Total)
	if r.Error != nil {
		log.Warn("filling the demo", "error", r.Error.Detail)
		return
	}
	log.Info("filling the demo", "chunks", r.Chunks)
}

const pageSize = 1000

// removeStale deletes documents of an earlier version.
func (o *Options) removeStale(ctx context.Context) (removed int, err error) {
	list, err := o.Pipeline.Documents(ctx, o.Scope, o.ID, ingest.Page{Limit: pageSize})
	if err != nil {
		return 0, err
	}
	for _, document := range list {
		if _, err := fs.Stat(o.Documents, document.ID); err == nil || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		ref := ingest.DocumentRef{KB: o.ID, ID: document.ID}
		if _, err := o.Pipeline.DeleteDocument(ctx, o.Scope, ref); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
