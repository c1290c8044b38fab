package storage

import (
	"context"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// prepare makes the catalogue's index, and the template that keeps a write to a deleted
// knowledge base from making an index.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.readable(ctx); err != nil {
		return err
	}
	template := rest.Put("/_index_template/"+s.prefix, mappings.NoAutoCreate(s.prefix+"-*"))
	if err := s.client.Change(ctx, template, nil); err != nil {
		return err
	}
	if err := s.EnsureIndex(ctx, s.catalogueIndex(), mappings.Catalogue()); err != nil {
		return err
	}
	return s.raise(ctx)
}

// DesiredIndex returns the mapping and settings of an index for a knowledge base.
func (s *Store) DesiredIndex(kb *engine.KnowledgeBase) (mappings.Index, error) {
	return mappings.Desired(kb, s.tokenizer.Fingerprint())
}

func (s *Store) createIndex(ctx context.Context, kb *engine.KnowledgeBase) error {
	index, err := s.DesiredIndex(kb)
	if err != nil {
		return err
	}
	if !kb.Shared {
		index.Aliases = map[string]mappings.Alias{s.Alias(kb): {Write: true}, s.WriteAlias(kb): {Write: true}}
	}
	request := rest.Put("/"+s.Index(kb), index)
	err = s.client.Change(ctx, request, nil)
	switch {
	case fault.Is(err, fault.Conflict): // a shared one, or left by an interrupted creation
		return s.verifyIndex(ctx, kb)
	case rest.Refused(err) && mappings.NeedsIK(kb.Analyzer):
		return MissingIK(kb.Analyzer, err)
	}
	return err
}

// MissingIK is the fault of an analyzer whose plugin the nodes do not have.
func MissingIK(analyzer string, err error) *fault.Error {
	return &fault.Error{
		Kind: fault.Unsupported, Field: "analyzer", Err: err,
		Detail: "analyzer " + analyzer + " needs the analysis-ik plugin on every node of Elasticsearch " +
			"(bin/elasticsearch-plugin install analysis-ik); without it choose jieba, cjk or standard",
	}
}

func (s *Store) verifyIndex(ctx context.Context, kb *engine.KnowledgeBase) error {
	live, err := s.liveMappings(ctx, s.Alias(kb))
	if err != nil {
		return err
	}
	for _, found := range live {
		if err := mappings.Verify(kb, &found); err != nil {
			return err
		}
	}
	return nil
}

// EnsureIndex makes an index unless it is there.
func (s *Store) EnsureIndex(ctx context.Context, name string, index mappings.Index) error {
	request := rest.Put("/"+name, index)
	if err := s.client.Change(ctx, request, nil); err != nil && !fault.Is(err, fault.Conflict) {
		return err
	}
	return nil
}
