// Package esquery builds the bodies of requests to Elasticsearch as typed values that
// write themselves as JSON, or as SMILE, its binary form: query clauses, searches,
// aggregations, highlighting, bulk lines. It has one file per clause, does no I/O and
// knows nothing of legs or knowledge bases.
//
// A zero optional member is left out of the JSON, so that Elasticsearch's own
// default holds. The only check is for what JSON cannot hold (NaN).
package esquery

// Query is one clause of Elasticsearch's query language.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/query-dsl.html
type Query interface{ writeQuery(w *writer) }

// Body is the whole body of a request: Search, MultiSearch or DeleteByQuery.
type Body interface{ writeBody(w *writer) }

// Common are the members that every clause accepts.
type Common struct {
	// Boost multiplies the clause's score; nil means 1.
	Boost *float64
	// Name makes hits list the clause, and its score before any outer boost,
	// in matched_queries.
	Name string
}

func (c *Common) writeCommon(w *writer) {
	if c.Boost != nil {
		w.float("boost", *c.Boost)
	}
	w.optText("_name", c.Name)
}

// Marshal returns the JSON of a body. It is the same for equal values; what is not
// UTF-8 becomes U+FFFD, a number that JSON cannot hold is an error.
func Marshal(b Body) ([]byte, error) { return write(b, false) }

// MarshalSmile is Marshal in SMILE, where a vector is a third as long and needs no
// conversion to digits and back.
func MarshalSmile(b Body) ([]byte, error) { return write(b, true) }

func write(b Body, smile bool) ([]byte, error) {
	w := &writer{buf: make([]byte, 0, usualBody), smile: smile}
	b.writeBody(w)
	return w.buf, w.err
}
