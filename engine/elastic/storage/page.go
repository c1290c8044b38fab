package storage

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// Sources lists what of _source makes up a chunk.
func (loc *Location) Sources() []string {
	from := loc.Names.Source
	if from.Chunk != "" {
		return []string{from.Chunk}
	}
	var members []string
	for _, member := range slices.Concat([]string{
		from.Title, from.Content, from.Positions,
		loc.Names.ID, loc.Names.DocumentID, loc.Names.DocumentName, loc.Names.Available.Field,
	}, from.Metadata) {
		if member != "" {
			members = append(members, member)
		}
	}
	return members
}

// Page is an answer to a search whose hits are chunks.
type Page struct {
	rest.Answer
	at  *Location
	own []engine.Chunk // where they are documents of the gateway's
}

// NewPage makes one to be read into.
func NewPage(at *Location) *Page { return &Page{at: at} }

// Page runs one _search for chunks that has to be answered whole.
func (s *Store) Page(ctx context.Context, at *Location, request rest.Request) (*Page, error) {
	page := NewPage(at)
	return page, s.client.SearchInto(ctx, request, page)
}

// Read implements rest.Readable.
func (p *Page) Read(r smile.Reader) {
	p.own = nil // a first try may have left some
	if p.at.Names.Source.Chunk != "" {
		p.Source = func(r smile.Reader) {
			p.own = append(p.own, engine.Chunk{})
			readOwn(r, &p.own[len(p.own)-1])
		}
	}
	p.Answer.Read(r)
}

// Chunks gives those of the hits.
func (p *Page) Chunks() ([]engine.Chunk, error) {
	if len(p.own) == len(p.Hits) {
		return p.own, nil
	}
	return p.at.chunks(&p.Answer)
}

// chunks reads the chunks of an answer.
func (loc *Location) chunks(a *rest.Answer) ([]engine.Chunk, error) {
	chunks := make([]engine.Chunk, len(a.Hits))
	for i := range a.Hits {
		if err := loc.chunk(&a.Hits[i], &chunks[i]); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored chunk cannot be read")
		}
	}
	return chunks, nil
}
