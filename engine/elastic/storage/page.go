package storage

import (
	"context"
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/lib/smile"
)

// Sources lists the members of _source that make up a chunk.
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

// Page is the response to a search whose hits are chunks.
type Page struct {
	rest.SearchResponse
	at  *Location
	own []engine.Chunk // of documents that the gateway wrote
}

// NewPage makes an empty page to read a response into.
func NewPage(at *Location) *Page { return &Page{at: at} }

// Page runs one _search for chunks; an incomplete response is an error.
func (s *Store) Page(ctx context.Context, at *Location, request rest.Request) (*Page, error) {
	page := NewPage(at)
	return page, s.client.SearchInto(ctx, request, page)
}

// Read implements rest.Readable.
func (p *Page) Read(r smile.Reader) {
	p.own = nil // of a failed attempt
	if p.at.Names.Source.Chunk != "" {
		p.ReadSource = func(r smile.Reader) {
			p.own = append(p.own, engine.Chunk{})
			readOwn(r, &p.own[len(p.own)-1])
		}
	}
	p.SearchResponse.Read(r)
}

// Chunks returns the chunk of each hit.
func (p *Page) Chunks() ([]engine.Chunk, error) {
	if len(p.own) == len(p.Hits) {
		return p.own, nil
	}
	return p.at.chunks(&p.SearchResponse)
}

// chunks reads the chunk of each hit.
func (loc *Location) chunks(a *rest.SearchResponse) ([]engine.Chunk, error) {
	chunks := make([]engine.Chunk, len(a.Hits))
	for i := range a.Hits {
		if err := loc.chunk(&a.Hits[i], &chunks[i]); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "a stored chunk cannot be read")
		}
	}
	return chunks, nil
}
