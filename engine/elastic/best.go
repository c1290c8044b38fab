package elastic

import (
	"slices"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
)

// maxBest is how many documents Elasticsearch lets an aggregation bring.
const maxBest = 100

// best lets the chunks of the best hits come with the joint ranking, so that they
// need no request of their own. Scoring is not slowed by it where every chunk is
// scored anyway, for its vector.
func (p *plan) best() esquery.Aggregations {
	n := p.req.Contents
	if n < 1 || n > maxBest || !p.scoresVectors() {
		return nil
	}
	return esquery.Aggregations{"best": esquery.TopHitsAggregation{Size: n, Source: p.t.sources()}}
}

func (p *plan) scoresVectors() bool {
	return slices.ContainsFunc(p.legs, func(l legPlan) bool { return l.runs() && !l.isText() })
}

// readBest reads the chunks that best asked for.
func (t *target) readBest(r reader) []engine.Chunk {
	var chunks []engine.Chunk
	for r.object(); r.more(); { // by aggregation
		r.name()
		for r.object(); r.more(); { // its hits
			r.name()
			chunks = t.readChunks(r, chunks)
		}
	}
	return chunks
}

// readChunks reads the hits of an answer that are nothing but chunks.
func (t *target) readChunks(r reader, chunks []engine.Chunk) []engine.Chunk {
	for r.object(); r.more(); {
		if r.name() != "hits" {
			r.skip()
			continue
		}
		for r.array(); r.more(); {
			chunks = append(chunks, t.readChunk(r))
		}
	}
	return chunks
}

func (t *target) readChunk(r reader) (c engine.Chunk) {
	var h answerHit
	for r.object(); r.more(); {
		switch name := r.name(); {
		case name == "_id":
			h.ID = r.string()
		case name != "_source":
			r.skip()
		case t.names.Source.Chunk != "":
			c = readStored(r)
		default:
			h.Source = r.raw()
		}
	}
	if h.Source == "" {
		return c
	}
	c, err := t.attachedChunk(&h)
	if err != nil {
		r.fail(err.Error())
	}
	return c
}
