package search

import (
	"context"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/search/engines"
)

// profile says in which languages the chunks of a knowledge base are.
type profile struct {
	main      string            // of most chunks, and of those that do not say
	centroids []engine.Centroid // of a vector field, by language; none where there are no vectors
	chunks    int               // with a vector in it
}

// mixed reports whether chunks are in several languages, so that each has to say its own.
func (p *profile) mixed() bool { return len(p.centroids) > 1 }

// sampled is how many chunks the centroids are of.
func (p *profile) sampled() int {
	n := 0
	for _, c := range p.centroids {
		n += c.Chunks
	}
	return n
}

// has reports whether chunks are in the language.
func (p *profile) has(l string) bool {
	return l == p.main || slices.ContainsFunc(p.centroids, func(c engine.Centroid) bool { return c.Language == l })
}

// How long profiles are kept, and how many. They change slowly, and drawing one may cost a
// request. An answer that is kept has one of the very state of the chunks.
const (
	profileLife  = 10 * time.Second
	profilesKept = 1024
)

type profileKey struct {
	ref           engine.Ref
	engine, field string
	created       time.Time
	generation    int
	state         string // of the chunks, where the answer is to be kept
}

type keptProfile struct {
	profile *profile
	since   time.Time
}

// profiles are those of the knowledge bases that were searched last.
type profiles struct {
	once sync.Once
	kept *lru.Cache[profileKey, keptProfile]
}

// of gives the profile of a vector field; without one, that of the texts.
func (p *profiles) of(ctx context.Context, subject *engines.Subject, field string) (*profile, error) {
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
	outdated := engine.KeepingOf(ctx).Outdated()     // then the next answer must be told so too
	if err == nil && drawn.main != "" && !outdated { // an empty knowledge base may be filled at any moment
		p.kept.Add(key, keptProfile{drawn, time.Now()})
	}
	return drawn, err
}

// profileOfVectors tells the language of chunks that do not say by some of their texts.
func profileOfVectors(ctx context.Context, s *engines.Subject, field string) (*profile, error) {
	req := &engine.CentroidsRequest{KB: s.KB, VectorField: field}
	centroids, err := engines.Ask(ctx, s, engines.CallCentroids, s.Engine.Centroids, req)
	if err != nil {
		return nil, err
	}
	p := &profile{chunks: centroids.Chunks}
	most := 0
	for _, c := range centroids.ByLanguage {
		if c.Language == "" {
			req := engine.ChunksRequest{KB: s.KB, IDs: c.IDs, Hidden: true}
			chunks, err := engines.Ask(ctx, s, engines.CallChunks, s.Engine.Chunks, req)
			if err != nil {
				return nil, err
			}
			c.Language = mainLanguage(chunks)
		}
		if c.Chunks > most {
			p.main, most = c.Language, c.Chunks
		}
		p.add(c)
	}
	p.correct()
	return p, nil
}

// fewest is the share of the chunks from which a language counts as one of the knowledge
// base where it may be taken for the main one.
const fewest = 0.02

// correct takes few chunks in a language that is easily taken for the main one to be in
// that.
func (p *profile) correct() {
	told, all := p.centroids, float64(p.sampled())
	p.centroids = nil
	for _, c := range told {
		if language.Alike(c.Language, p.main) && float64(c.Chunks) < fewest*all {
			c.Language = p.main
		}
		p.add(c)
	}
}

// add joins a centroid with that of the same language.
func (p *profile) add(c engine.Centroid) {
	for i := range p.centroids {
		same := &p.centroids[i]
		if same.Language != c.Language {
			continue
		}
		n := float32(same.Chunks + c.Chunks)
		mean := make([]float32, len(c.Mean))
		for j := range mean {
			mean[j] = (same.Mean[j]*float32(same.Chunks) + c.Mean[j]*float32(c.Chunks)) / n
		}
		same.Mean, same.Chunks = mean, same.Chunks+c.Chunks
		return
	}
	p.centroids = append(p.centroids, c)
}

// How many documents, and chunks of each, tell the language of a knowledge base without
// vectors.
const readDocuments, readChunks = 4, 4

func profileOfTexts(ctx context.Context, s *engines.Subject, _ string) (*profile, error) {
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
	return &profile{main: mainLanguage(all)}, nil
}

// mainLanguage is that of most chunks; empty where none can be told.
func mainLanguage(chunks []engine.Chunk) string {
	votes := map[string]int{}
	main := ""
	for i := range chunks {
		l := languageOf(&chunks[i])
		if l == "" {
			continue
		}
		if votes[l]++; votes[l] > votes[main] || votes[l] == votes[main] && l < main {
			main = l
		}
	}
	return main
}

// languageOf is what a chunk says of its language, else what its text looks like.
func languageOf(c *engine.Chunk) string {
	if said := c.Language(); said != "" {
		return said
	}
	return language.Of(c.FieldText(engine.FieldText))
}

// languageOf is the language of a chunk that was read.
func (rt *retrieval) languageOf(c *engine.Chunk) string {
	if said := c.Language(); said != "" {
		return said
	}
	if l := languageOf(c); l != "" || rt.judge == nil {
		return l
	}
	return rt.judge.profile.main
}
