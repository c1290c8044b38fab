package plan

import "github.com/hybridge-search/hybridge/filter"

// GroupByDocument keeps the best chunk of each document.
const GroupByDocument = "document_id"

// The values of Request.Copies.
const (
	CopiesFold = "fold"
	CopiesKeep = "keep"
)

// Request is a search request of the API. Everything but Query and
// KnowledgeBases has a default, which the preset decides; nil means "the
// default", so that an explicit zero can be told from silence.
type Request struct {
	Query          string             `json:"query" doc:"The question; empty with everything. Quoted words are a required phrase, -word excludes."`
	Queries        []string           `json:"queries,omitempty" doc:"Up to 8 further phrasings of the question, each asked for by legs of its own, at an equal share of the weight. They are plain text."`
	Everything     bool               `json:"everything,omitempty" doc:"Asks for every chunk that passes the filter, by id, in place of a question: preset is left out, and of what a preset decides group_by alone may be said."`
	Plain          bool               `json:"plain,omitempty" doc:"Takes quotes and dashes in the query as plain text."`
	KnowledgeBases []string           `json:"knowledge_bases" doc:"Ids of the knowledge bases to search, in parallel."`
	Preset         string             `json:"preset,omitempty" doc:"Named plan; the default is balanced."`
	Boosts         map[string]float64 `json:"boosts,omitempty" doc:"Knowledge base to what it counts beside the others, more than 0 and at most 100; 1 for those left out."`
	Copies         string             `json:"copies,omitempty" enum:"fold,keep" doc:"fold: texts that are the same or nearly are one hit, whose copies say where else they stand; keep: each is a hit. Left out, copies are folded across knowledge bases; with fold also within one."`
	Engine         string             `json:"engine,omitempty" doc:"Engine to run on, when a knowledge base has several."`
	TopK           *int               `json:"top_k,omitempty" minimum:"1" maximum:"10000" doc:"Hits that make the answer, 1 to 10000."`
	Offset         *int               `json:"offset,omitempty" minimum:"0" maximum:"2147483647" doc:"First hit of the page within the answer, from 0."`
	Limit          *int               `json:"limit,omitempty" minimum:"1" maximum:"10000" doc:"Hits of the page; the default is the whole answer."`
	User           *string            `json:"user,omitempty" doc:"Only chunks of this owner."`
	Overrides
	Language   string            `json:"language,omitempty" doc:"Language of the question as ISO 639-1, such as en or zh; left out, it is told by the question."`
	Rules      *bool             `json:"rules,omitempty" doc:"false searches without the query rules of the knowledge bases."`
	Cache      *bool             `json:"cache,omitempty" doc:"false computes the answer anew."`
	Vector     []float32         `json:"vector,omitempty" doc:"Replaces embedding the query."`
	Filter     filter.Expression `json:"filter,omitempty" doc:"Field to value, list of values, or {gt, gte, lt, lte, contains, starts_with, ends_with, not, exists}. Bounds are numbers, or times in ISO 8601: UTC without an offset, and a year, month or day is all of it. any_of and all_of take lists of filters, not takes a filter; nested at most 8 deep."`
	Highlight  *Highlight        `json:"highlight,omitempty" doc:"Fragments of the content with the query's words marked."`
	Facets     []string          `json:"facets,omitempty" doc:"Fields to count over the answer set."`
	FacetMode  string            `json:"facet_mode,omitempty" enum:"conjunctive,disjunctive" doc:"disjunctive: each of facets, and documents, is counted as if the filter said nothing of that field. The default is conjunctive."`
	Neighbours int               `json:"neighbours,omitempty" minimum:"0" maximum:"20" doc:"Chunks before and after each hit to bring along."`
	Exact      Exactness         `json:"-"` // no caller of the API asks for it
	Explain    bool              `json:"explain,omitempty" doc:"Adds the plan, the analysed query and what was cut by which threshold."`
	// ClientID and SessionID identify the user; the answer depends on them in experiments alone.
	ClientID    string `json:"client_id,omitempty" doc:"Key of the user who asks, at most 256 bytes, opaque: experiments and events go by it."`
	SessionID   string `json:"session_id,omitempty" doc:"Key of the session that the question belongs to, at most 256 bytes, opaque."`
	Experiments *bool  `json:"experiments,omitempty" doc:"false: the search takes part in no experiment."`
}

// Highlight shapes the fragments. Sizes are in characters (runes).
type Highlight struct {
	FragmentSize *int    `json:"fragment_size,omitempty" minimum:"10" maximum:"2000"`
	Fragments    *int    `json:"fragments,omitempty" minimum:"0" maximum:"50"`
	Pre          *string `json:"pre,omitempty"`
	Post         *string `json:"post,omitempty"`
	Nearest      bool    `json:"nearest,omitempty" doc:"Shows a hit without a word of the question from the sentence on that is nearest to it, for which sentences are embedded: up to 300 ms more."`
}

// Exactness says which approximations of engines to switch off, to measure their recall.
type Exactness struct {
	Legs       bool // every vector is compared, and joint rankings are over every chunk
	Statistics bool // mean and deviation of cosines are of every vector, not of a sample
}

// Folds reports whether chunks with the same text become one hit across knowledge bases, and within one.
func (r *Request) Folds() (acrossBases, withinBase bool) {
	withinBase = r.Copies == CopiesFold
	return withinBase || r.Copies == "" && len(r.KnowledgeBases) > 1, withinBase
}
