package answer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/jsonout"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/textquery"
)

// Response is the answer to a Request.
type Response struct {
	QueryID string  `json:"query_id"`
	Cached  bool    `json:"cached"`
	TookMS  float64 `json:"took_ms" minimum:"0"`
	// Experiments are the experiments of this search, even if the cached answer is shared.
	Experiments []InExperiment `json:"experiments,omitempty" doc:"Experiments that this search is part of."`

	Preset   string  `json:"preset"`
	Engine   string  `json:"engine"`
	Timings  Timings `json:"timings_ms"`
	Total    Total   `json:"total"`
	MaxScore float64 `json:"max_score" minimum:"0" maximum:"1"`
	// Answerable is the probability that a chunk of the answer set answers the question.
	Answerable *float64                `json:"answerable" minimum:"0" maximum:"1" doc:"Probability in [0, 1] that the answer set, before thresholds on relevance, answers the question; null where it is not known."`
	Language   string                  `json:"language,omitempty" doc:"Language of the question, ISO 639-1."`
	Hits       []Hit                   `json:"hits"`
	Documents  []DocumentCount         `json:"documents"`
	Facets     map[string][]FacetCount `json:"facets,omitempty"`
	// Relaxed names the minimum_should_match that found the hits, if the planned one
	// found nothing.
	Relaxed *string `json:"relaxed"`
	// DidYouMean is the question with its unknown words corrected, if the request asks for it.
	DidYouMean string     `json:"did_you_mean,omitempty" doc:"Where the request has did_you_mean: the question with words that no chunk has corrected to close ones that chunks have which the caller may see. Left out where there is nothing to correct."`
	Degraded   []Degraded `json:"degraded"`
	// MergedBy says how hits of several knowledge bases were compared: pooled, as if all
	// chunks were in one, or if that is impossible, as with different models,
	// raw_score or score.
	MergedBy    string   `json:"merged_by,omitempty"`
	Empty       string   `json:"empty,omitempty" enum:"nothing_relevant,threshold,words,filter,match" doc:"Why there is no hit, stable."`
	EmptyReason string   `json:"empty_reason,omitempty" locale:"text" doc:"The same in a sentence."`
	Explain     *Explain `json:"explain,omitempty"`
	// Shared has the fields from preset on of a cached answer; of them only Preset
	// and Timings are set here then.
	Shared *Shared `json:"-"`
}

// InExperiment is the part of a search in an experiment.
type InExperiment struct {
	ID      string `json:"id"`
	Variant string `json:"variant,omitempty" doc:"The variant that answered; left out where both are in one list."`
}

// Shared is the part of an answer's JSON that several answers share.
type Shared struct {
	JSON []byte // read-only
	Hits int    // how many there are

	names func() []HitName
}

// HitName names a hit: ids are unique within a knowledge base alone.
type HitName struct {
	KnowledgeBase string `json:"knowledge_base"`
	ID            string `json:"id"`
}

// HitNames name the hits, best first. The list is read-only.
func (r *Response) HitNames() []HitName {
	if r.Shared != nil {
		return r.Shared.names()
	}
	names := make([]HitName, len(r.Hits))
	for i := range r.Hits {
		names[i] = HitName{KnowledgeBase: r.Hits[i].KnowledgeBase, ID: r.Hits[i].ID}
	}
	return names
}

// readNames reads the names of the hits from the common part of an answer.
func readNames(common []byte) []HitName {
	var answer struct {
		Hits []HitName `json:"hits"`
	}
	object := append([]byte{'{'}, bytes.TrimPrefix(common, []byte{','})...)
	if json.Unmarshal(object, &answer) != nil {
		return nil
	}
	return answer.Hits
}

// NewShared gives the shared part of the JSON of a response; nil without one, as
// for texts that are translated for each reader.
func NewShared(r *Response, text []byte) *Shared {
	head, err := r.AppendHead(nil)
	if err != nil || !bytes.HasPrefix(text, head) || r.isTranslated() {
		return nil
	}
	common := text[len(head):]
	// Few callers need them, and then of answers that are requested often.
	names := sync.OnceValue(func() []HitName { return readNames(common) })
	return &Shared{JSON: common, Hits: len(r.Hits), names: names}
}

// isTranslated reports whether a text of the answer is translated for its reader.
func (r *Response) isTranslated() bool {
	return r.EmptyReason != "" || len(r.Degraded) > 0 || r.Explain != nil &&
		slices.ContainsFunc(r.Explain.Relevance, func(a RelevanceAccount) bool { return a.Why != "" })
}

// AppendHead appends what comes before the common part.
func (r *Response) AppendHead(to []byte) ([]byte, error) {
	w := responseWriter{jsonout.New(to)}
	w.head(r)
	return w.Bytes()
}

// Timings are in milliseconds. Legs run in parallel, so they do not add up.
type Timings struct {
	Analyze   float64            `json:"analyze"`
	Embed     float64            `json:"embed"`
	Legs      map[string]float64 `json:"legs"`
	Fuse      float64            `json:"fuse"`
	Highlight float64            `json:"highlight"`
}

// Total counts the answer set; Relation is gte when more chunks may pass.
type Total struct {
	Value    int    `json:"value"`
	Relation string `json:"relation" enum:"eq,gte"`
	// Folded is the number of near-duplicates of hits of this page and of earlier ones.
	Folded int `json:"folded,omitempty" doc:"Of value, the chunks that hits of this page and of those before it stand for: see copies."`
}

// Hit is one chunk of the answer.
type Hit struct {
	ID                string                 `json:"id"`
	DocumentID        string                 `json:"document_id"`
	DocumentName      string                 `json:"document_name"`
	KnowledgeBase     string                 `json:"knowledge_base"`
	Ordinal           int                    `json:"ordinal"`
	Title             string                 `json:"title"`
	Content           string                 `json:"content"`
	ImportantKeywords []string               `json:"important_keywords,omitempty"`
	Questions         []string               `json:"questions,omitempty" doc:"Questions that the text answers."`
	Score             float64                `json:"score" minimum:"0" maximum:"1"`
	RawScore          float64                `json:"raw_score"`
	VectorSimilarity  *float64               `json:"vector_similarity" minimum:"-1" maximum:"1"`
	TermSimilarity    *float64               `json:"term_similarity" minimum:"0" maximum:"1"`
	Relevance         *float64               `json:"relevance" minimum:"0" maximum:"1" doc:"Probability in [0, 1] that the chunk answers the question; comparable across questions, knowledge bases and presets; null where it is not known."`
	Language          string                 `json:"language,omitempty" doc:"Of the chunk, ISO 639-1."`
	Highlights        []string               `json:"highlights"`
	TitleHighlight    string                 `json:"title_highlight,omitempty" doc:"The title as highlights are; left out where no word of the question is in it."`
	QuestionHighlight string                 `json:"question_highlight,omitempty" doc:"The question of a pair as highlights are; left out where no word of the question is in it."`
	Positions         [][]float64            `json:"positions"`
	Metadata          map[string]any         `json:"metadata"`
	Legs              []scoring.Contribution `json:"legs"`
	Boost             *float64               `json:"boost,omitempty" minimum:"0" maximum:"1" doc:"Of the request's boosts, that of the knowledge base over the largest: what the score was lowered by. Left out where all are equal."`
	SecondStage       *SecondScore           `json:"second_stage,omitempty" doc:"Where a second stage scored it, as preset ragflow has one."`
	Rerank            *Reranked              `json:"rerank,omitempty" doc:"Where a reranker read it."`
	Diversity         *Diversity             `json:"diversity,omitempty" doc:"Of a diverse answer, whose order is not that of the scores."`
	Pinned            *Pinned                `json:"pinned,omitempty" doc:"Where a query rule put it before the others, whatever its score; 0 where no leg found it."`
	Copies            []Copy                 `json:"copies,omitempty" doc:"Where else the text stands: chunks that are the same or nearly, and rank lower."`
	Parent            *Parent                `json:"parent,omitempty" doc:"With return: parent, the section that the chunk is in."`
	Neighbours        []Neighbour            `json:"neighbours,omitempty"`
	*engine.QA
}

// Copy is a near-duplicate folded into a hit.
type Copy struct {
	KnowledgeBase string `json:"knowledge_base"`
	ID            string `json:"id"`
	DocumentID    string `json:"document_id"`
	DocumentName  string `json:"document_name"`
}

// Neighbour is a chunk around a hit in its document; Distance is -1 for the
// one before it.
type Neighbour struct {
	ID       string `json:"id"`
	Distance int    `json:"distance"`
	Content  string `json:"content"`
}

// DocumentCount counts a document's chunks in the answer set.
type DocumentCount struct {
	DocumentID   string `json:"document_id"`
	DocumentName string `json:"document_name"`
	Count        int    `json:"count"`
}

// FacetCount counts a value in the answer set.
type FacetCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Explain explains the whole answer.
type Explain struct {
	Plan  plan.Plan        `json:"plan"`
	Query *textquery.Query `json:"query,omitempty"` // of the first knowledge base
	// Known is the share of the query's idf mass that the text index knows.
	Known *float64 `json:"known,omitempty"`
	// Weights says for each knowledge base how much each leg counts, and by which rule.
	Weights []WeightAccount `json:"weights"`
	// SynonymsCut is how many synonyms were omitted.
	SynonymsCut int `json:"synonyms_cut,omitempty" doc:"Synonyms that are over a limit and left out, at least: a rule gives a word 64, a set a question 2048."`
	// Queries are the further phrasings, those of a language model last.
	Queries []string `json:"queries,omitempty"`
	// Methods names for each knowledge base the method of its ranking.
	Methods map[string]string `json:"methods"`
	// Cut counts hits dropped per threshold.
	Cut map[string]int `json:"cut"`
	// Rules are the rules that match the question.
	Rules []AppliedRule `json:"rules,omitempty" doc:"The query rules that the question matches, in their order."`
	// Relevance explains the relevance of each knowledge base.
	Relevance []RelevanceAccount `json:"relevance,omitempty"`
}

// NewQueryID makes the id of a response: a UUIDv7 (RFC 9562, 5.7), so that ids are in the order of time, to a quarter
// of a microsecond (6.2, method 3). It protects nothing, so the fast generator will do for the rest.
func NewQueryID() string {
	const fraction = 1 << 12 // parts of a millisecond
	nanos := uint64(time.Now().UnixNano())
	ms, rest := nanos/1e6, nanos%1e6
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], ms<<16|7<<12|rest*fraction/1e6)
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[8] = id[8]&0x3f | 0x80 // the variant
	return id.String()
}

// Milliseconds is a duration in the unit of Timings.
func Milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
