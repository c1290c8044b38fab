package ingest

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/fold"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Listing asks for a page of a knowledge base's documents in an order, or of those whose name matches.
type Listing struct {
	KB         string
	Sort       string // one of SortKeys; empty: id
	Descending bool
	Query      string // only documents whose name, or id, has this, without regard to case and width
	After      string // the Next of the page before; empty: from the start
	Limit      int    // 1 to 1000
}

// Listed is a page of documents.
type Listed struct {
	Documents []engine.Document
	Next      string // empty behind the last page
	Total     int    // documents that match
}

// SortKeys are the accepted values of Listing.Sort.
var SortKeys = []string{"id", "name", "chunks", "size", "without_vectors", "written_at"}

// place is where a document stands in an order: by a number or a text, then by its id.
type place struct {
	Number int64  `json:"n,omitempty"`
	Text   string `json:"t,omitempty"`
	ID     string `json:"i"`
}

// placed is a document with its place.
type placed struct {
	place
	document engine.Document
}

// atOnce is how many documents are asked of the engine at once: for Elasticsearch a page of all documents costs
// little more than one of few.
const atOnce = 10_000

// ListDocuments lists documents in any order. Engines page by id, so every page reads the list of all documents
// once, of which Limit are kept: time grows with their number, memory does not.
// fault.InvalidArgument for an order that there is not, or an After of another listing.
func (p *Pipeline) ListDocuments(ctx context.Context, scope access.Scope, listing Listing) (*Listed, error) {
	if err := (Page{Limit: listing.Limit}).check(); err != nil {
		return nil, err
	}
	if listing.Sort == "" {
		listing.Sort = SortKeys[0]
	}
	if !slices.Contains(SortKeys, listing.Sort) {
		return nil, fault.Invalid("sort", clip(listing.Sort, 80), strings.Join(SortKeys, ", "))
	}
	t, err := p.readable(ctx, scope, listing.KB)
	if err != nil {
		return nil, err
	}
	best, err := newBest(&listing)
	if err != nil {
		return nil, err
	}
	for after := ""; ; {
		some, err := t.documents(ctx, Page{After: after, Limit: atOnce})
		if err != nil {
			return nil, err
		}
		for i := range some {
			best.add(&some[i])
		}
		if len(some) < atOnce {
			return best.page()
		}
		after = some[len(some)-1].ID
	}
}

// best keeps those documents that come first behind a place.
type best struct {
	listing *Listing
	query   string
	after   *place
	kept    []placed // at most twice what is wanted, and one
	total   int
	beyond  bool // more than are wanted come behind the place
}

func newBest(listing *Listing) (*best, error) {
	b := &best{listing: listing, query: folded(listing.Query)}
	if listing.After == "" {
		return b, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(listing.After)
	if err == nil {
		err = json.Unmarshal(text, &b.after)
	}
	if err != nil || b.after == nil {
		return nil, fault.Invalid("after", clip(listing.After, 80), "the next of the page before, of the same order")
	}
	return b, nil
}

// byValue puts the number of its digits before each number, without zeros in front, so that numbers in names compare
// by their value. (Unicode's collation would sort Chinese by its sounds too, for 1.4 MB more of the program.)
func byValue(name string) string {
	var b strings.Builder
	for name != "" {
		text := strings.IndexAny(name, digits)
		if text < 0 {
			text = len(name)
		}
		b.WriteString(name[:text])
		name = name[text:]
		rest := strings.TrimLeft(name, digits)
		if number := strings.TrimLeft(name[:len(name)-len(rest)], "0"); len(rest) < len(name) {
			n := len(number)
			for ; n >= 9; n -= 9 {
				b.WriteByte('9')
			}
			b.WriteByte(digits[n])
			b.WriteString(number)
		}
		name = rest
	}
	return b.String()
}

const digits = "0123456789"

func (b *best) add(d *engine.Document) {
	name := folded(cmp.Or(d.Name, d.ID))
	if b.query != "" && !strings.Contains(name, b.query) && !strings.Contains(folded(d.ID), b.query) {
		return
	}
	b.total++
	p := place{ID: d.ID}
	switch b.listing.Sort {
	case "name":
		p.Text = byValue(name)
	case "chunks":
		p.Number = int64(d.Chunks)
	case "size":
		p.Number = d.Bytes
	case "without_vectors":
		p.Number = int64(d.WithoutVectors)
	case "written_at":
		p.Text = d.WrittenAt
	}
	if b.after != nil && b.compare(p, *b.after) <= 0 {
		return
	}
	if b.kept = append(b.kept, placed{p, *d}); len(b.kept) > 2*b.listing.Limit {
		b.cut()
	}
}

// compare is below 0 if the first place comes before the other.
func (b *best) compare(x, y place) int {
	order := cmp.Or(cmp.Compare(x.Number, y.Number), strings.Compare(x.Text, y.Text), strings.Compare(x.ID, y.ID))
	if b.listing.Descending {
		return -order
	}
	return order
}

// cut leaves those that are wanted, in their order.
func (b *best) cut() {
	slices.SortFunc(b.kept, func(x, y placed) int { return b.compare(x.place, y.place) })
	if len(b.kept) > b.listing.Limit {
		b.beyond = true
		b.kept = slices.Delete(b.kept, b.listing.Limit, len(b.kept))
	}
}

func (b *best) page() (*Listed, error) {
	b.cut()
	listed := &Listed{Documents: make([]engine.Document, len(b.kept)), Total: b.total}
	for i := range b.kept {
		listed.Documents[i] = b.kept[i].document
	}
	if b.beyond {
		text, err := json.Marshal(b.kept[len(b.kept)-1].place)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "write the place of a document")
		}
		listed.Next = base64.RawURLEncoding.EncodeToString(text)
	}
	return listed, nil
}

// folded is a name as it is compared: as questions and texts are, without regard to case and width.
func folded(text string) string { return fold.Load().String(text) }
