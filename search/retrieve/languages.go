package retrieve

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/relevance"
)

// How long profiles are cached, and how many. They change slowly, and drawing one may cost a
// request. An answer that is to be cached needs one of the current state.
const (
	profileLife  = 10 * time.Second
	profilesKept = 1024
)

type profileKey struct {
	ref           engine.Ref
	engine, field string
	created       time.Time
	generation    int
	state         string // of the chunks, where the answer is to be cached
}

type keptProfile struct {
	profile *relevance.Profile
	since   time.Time
}

// Profiles caches the profiles of the knowledge bases searched last.
type Profiles struct {
	once sync.Once
	kept *lru.Cache[profileKey, keptProfile]
}

// of gives the profile of a vector field; without one, that of the texts.
func (p *Profiles) of(ctx context.Context, subject *engines.Subject, field string) (*relevance.Profile, error) {
	p.once.Do(func() { p.kept, _ = lru.New[profileKey, keptProfile](profilesKept) }) // the size is a constant > 0
	kb := &subject.KB
	state := engine.KeepingOf(ctx).State(kb.Ref)
	key := profileKey{kb.Ref, subject.Engine.Name(), field, kb.CreatedAt, kb.Generation, state}
	if k, ok := p.kept.Get(key); ok && time.Since(k.since) < profileLife {
		return k.profile, nil
	}
	draw := profileOfVectors
	if field == "" {
		draw = profileOfTexts
	}
	drawn, err := draw(ctx, subject, field)
	outdated := engine.KeepingOf(ctx).Outdated()     // then the next answer must be marked so too
	if err == nil && drawn.Main != "" && !outdated { // an empty knowledge base may be filled at any moment
		p.kept.Add(key, keptProfile{drawn, time.Now()})
	}
	return drawn, err
}

// profileOfVectors detects the language of chunks that name none, from some of their texts.
func profileOfVectors(ctx context.Context, s *engines.Subject, field string) (*relevance.Profile, error) {
	req := &engine.CentroidsRequest{KB: s.KB, VectorField: field}
	centroids, err := engines.Ask(ctx, s, engines.CallCentroids, s.Engine.Centroids, req)
	if err != nil {
		return nil, err
	}
	p := &relevance.Profile{Chunks: centroids.Chunks}
	most := 0
	for _, c := range centroids.ByLanguage {
		if c.Language == "" {
			req := engine.ChunksRequest{KB: s.KB, IDs: c.IDs, Hidden: true}
			chunks, err := engines.Ask(ctx, s, engines.CallChunks, s.Engine.Chunks, req)
			if err != nil {
				return nil, err
			}
			c.Language = relevance.MainLanguage(chunks)
		}
		if c.Chunks > most {
			p.Main, most = c.Language, c.Chunks
		}
		p.Add(c)
	}
	p.Correct()
	return p, nil
}

// How many documents, and chunks of each, decide the language of a knowledge base without
// vectors.
const readDocuments, readChunks = 4, 4

func profileOfTexts(ctx context.Context, s *engines.Subject, _ string) (*relevance.Profile, error) {
	some := func(ctx context.Context, kb engine.KnowledgeBase) ([]engine.Document, error) {
		return s.Engine.Documents(ctx, kb, "", readDocuments)
	}
	documents, err := engines.Ask(ctx, s, engines.CallDocuments, some, s.KB)
	if err != nil {
		return nil, err
	}
	var all []engine.Chunk
	for _, d := range documents {
		chunks, err := engines.Ask(ctx, s, engines.CallDocumentChunks, s.Engine.DocumentChunks, engine.DocumentChunksRequest{
			KB: s.KB, DocumentID: d.ID, To: -1, Limit: readChunks,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, chunks...)
	}
	return &relevance.Profile{Main: relevance.MainLanguage(all)}, nil
}
