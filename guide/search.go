package guide

import (
	"cmp"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/highlight"
	"github.com/hybridge-search/hybridge/bm25"
	"github.com/hybridge-search/hybridge/textquery"
)

const (
	// headingBoost, titleBoost and aliasBoost are how often a word counts that is in the heading of a section, in the
	// title of its page, and among the aliases of the terms that the section explains.
	headingBoost, titleBoost, aliasBoost = 4, 3, 2
	// referenceShare is the weight of a score of the reference relative to the guide, which explains
	// what the reference only lists.
	referenceShare = 0.5
	// leastShare is the minimum score of a hit, as a share of the best one's.
	leastShare = 0.2
	// considered are the sections of which the best are shown.
	considered = 100
)

// index searches the sections of an edition.
type index struct {
	words    Analyzer
	sections []place // by key
	whole    *bm25.Snapshot
	searcher bm25.Searcher
}

// place is a section and where it is.
type place struct {
	*section
	page  *page
	share float64 // of its score that counts
}

// found is a section that answers a question.
type found struct {
	place
	score   float64
	heading string // HTML, with marks
	text    string // HTML, with marks: what of the section answers
}

func newIndex(words Analyzer, e *edition, terms []Term) *index {
	x := &index{words: words}
	further := searchWords(terms, e.code)
	var whole, headings, titles, aliases []bm25.Doc
	for _, at := range e.places() {
		key := uint32(len(x.sections)) //nolint:gosec // there are a few hundred
		x.sections = append(x.sections, at)
		title, heading := words.Terms(at.page.title), []string(nil)
		if at.level > 1 { // else it is the title
			heading = words.Terms(at.heading)
		}
		var known []string
		if !at.page.isReference() {
			known = words.Terms(further[sectionKey(at)])
		}
		whole = append(whole, bm25.Doc{Key: key, Tokens: slices.Concat(title, heading, words.Terms(at.text), known)})
		aliases = append(aliases, bm25.Doc{Key: key, Tokens: known})
		headings = append(headings, bm25.Doc{Key: key, Tokens: heading})
		titles = append(titles, bm25.Doc{Key: key, Tokens: title})
	}
	x.whole = snapshot(whole)
	x.searcher = bm25.Boosted(x.whole, []bm25.Part{
		{Snapshot: snapshot(headings), Boost: headingBoost},
		{Snapshot: snapshot(titles), Boost: titleBoost},
		{Snapshot: snapshot(aliases), Boost: aliasBoost},
	})
	return x
}

// places are all sections, in the order of the contents.
func (e *edition) places() (all []place) {
	for _, part := range e.parts {
		for _, p := range part.pages {
			share := 1.0
			if p.isReference() {
				share = referenceShare
			}
			for i := range p.sections {
				all = append(all, place{section: &p.sections[i], page: p, share: share})
			}
		}
	}
	return all
}

func snapshot(docs []bm25.Doc) *bm25.Snapshot {
	x := bm25.New(bm25.Options{})
	_ = x.Add(docs) // keys ascend
	return x.Snapshot()
}

// search gives the best limit sections, best first.
func (x *index) search(ctx context.Context, question string, limit int) []found {
	asked := x.words.Parse(question)
	asked.Terms = telling(asked.Terms)
	query := x.compose(asked)
	if query.Empty() {
		return nil
	}
	hits := x.searcher.Search(ctx, &query, considered, x.accepts(ctx, asked))
	all := make([]found, len(hits))
	for i, h := range hits {
		p := x.sections[h.Key]
		all[i] = found{place: p, score: float64(h.Score) * p.share}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	weak := func(f found) bool { return f.score < leastShare*all[0].score }
	if n := slices.IndexFunc(all, weak); n >= 0 {
		all = all[:n]
	}
	all = all[:min(limit, len(all))]
	matcher := highlight.NewMatcher(&asked, query, x.words)
	for i := range all {
		all[i].show(matcher)
	}
	return all
}

// telling leaves out the words that a question is built with, unless there are no others.
func telling(terms []analysis.QueryTerm) []analysis.QueryTerm {
	common := func(t analysis.QueryTerm) bool { return highlight.IsCommon(t.Text) }
	if rest := slices.DeleteFunc(slices.Clone(terms), common); len(rest) > 0 {
		return rest
	}
	return terms
}

// compose makes the query: parts of a longer word count little beside it, neighbours that stay
// neighbours count more.
func (x *index) compose(asked analysis.Query) textquery.Query {
	terms := make([]string, len(asked.Terms))
	for i := range asked.Terms {
		terms[i] = asked.Terms[i].Text
	}
	docs, average, df := x.whole.Stats(terms)
	return analysis.Compose(asked, analysis.Frequencies{Docs: docs, DF: df, AverageLength: average}, nil, analysis.Rules{
		PartWeight: 0.25, Phrases: true, PhraseSlop: 2, PhraseBoost: 0.2,
	})
}

// accepts says which sections hold what the question quotes, and nothing that it excludes; nil: all.
func (x *index) accepts(ctx context.Context, asked analysis.Query) func(key uint32) bool {
	if len(asked.Required)+len(asked.Excluded) == 0 {
		return nil
	}
	match := func(phrases []textquery.Phrase) (all []*roaring.Bitmap) {
		for _, p := range phrases {
			all = append(all, x.whole.Match(ctx, p))
		}
		return all
	}
	required, excluded := match(asked.Required), match(asked.Excluded)
	return func(key uint32) bool {
		lacks := slices.ContainsFunc(required, func(b *roaring.Bitmap) bool { return !b.Contains(key) })
		return !lacks && !slices.ContainsFunc(excluded, func(b *roaring.Bitmap) bool { return b.Contains(key) })
	}
}

// show marks the matches in the section.
func (f *found) show(m *highlight.Matcher) {
	marks := highlight.Options{Pre: "<mark>", Post: "</mark>", FragmentSize: 220, Fragments: 1}
	if fragments, _ := m.Fragments(f.section.text, marks); len(fragments) > 0 {
		f.text = fragments[0]
	}
	f.heading = m.Whole(f.section.heading, marks)
}
