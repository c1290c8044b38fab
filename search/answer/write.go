package answer

import (
	"github.com/hybridge-search/hybridge/lib/jsonout"
	"github.com/hybridge-search/hybridge/scoring"
)

// AppendJSON appends the response and a line break, the same to the byte as an
// encoding/json.Encoder that leaves HTML as it is.
func (r *Response) AppendJSON(to []byte) ([]byte, error) {
	if r.Shared != nil {
		head, err := r.AppendHead(to)
		return append(head, r.Shared.JSON...), err
	}
	w := responseWriter{jsonout.New(to)}
	w.response(r)
	out, err := w.Bytes()
	if err != nil {
		return to, err
	}
	return append(out, '\n'), nil
}

// responseWriter writes a Response, field by field.
type responseWriter struct{ *jsonout.Writer }

// head writes the fields of an answer that are never shared.
func (w responseWriter) head(r *Response) {
	w.String(`{"query_id":`, r.QueryID)
	w.Bool(`,"cached":`, r.Cached)
	w.Float(`,"took_ms":`, r.TookMS)
	if len(r.Experiments) > 0 {
		jsonout.List(w.Writer, `,"experiments":`, r.Experiments, w.inExperiment)
	}
}

func (w responseWriter) inExperiment(e *InExperiment) {
	w.String(`{"id":`, e.ID)
	if e.Variant != "" {
		w.String(`,"variant":`, e.Variant)
	}
	w.Raw(`}`)
}

func (w responseWriter) response(r *Response) {
	w.head(r)
	w.String(`,"preset":`, r.Preset)
	w.String(`,"engine":`, r.Engine)
	w.timings(&r.Timings)
	w.Int(`,"total":{"value":`, r.Total.Value)
	w.String(`,"relation":`, r.Total.Relation)
	if r.Total.Folded != 0 {
		w.Int(`,"folded":`, r.Total.Folded)
	}
	w.Float(`},"max_score":`, r.MaxScore)
	jsonout.Optional(w.Writer, `,"answerable":`, r.Answerable, w.Float)
	if r.Language != "" {
		w.String(`,"language":`, r.Language)
	}
	jsonout.List(w.Writer, `,"hits":`, r.Hits, w.hit)
	jsonout.List(w.Writer, `,"documents":`, r.Documents, w.document)
	if len(r.Facets) > 0 {
		w.Any(`,"facets":`, r.Facets)
	}
	jsonout.Optional(w.Writer, `,"relaxed":`, r.Relaxed, w.String)
	if r.DidYouMean != "" {
		w.String(`,"did_you_mean":`, r.DidYouMean)
	}
	jsonout.List(w.Writer, `,"degraded":`, r.Degraded, w.degraded)
	if r.MergedBy != "" {
		w.String(`,"merged_by":`, r.MergedBy)
	}
	if r.Empty != "" {
		w.String(`,"empty":`, r.Empty)
	}
	if r.EmptyReason != "" {
		w.String(`,"empty_reason":`, r.EmptyReason)
	}
	if r.Explain != nil {
		w.Any(`,"explain":`, r.Explain)
	}
	w.Raw(`}`)
}

func (w responseWriter) timings(t *Timings) {
	w.Float(`,"timings_ms":{"analyze":`, t.Analyze)
	w.Float(`,"embed":`, t.Embed)
	jsonout.Map(w.Writer, `,"legs":`, t.Legs, w.Float)
	w.Float(`,"fuse":`, t.Fuse)
	w.Float(`,"highlight":`, t.Highlight)
	w.Raw(`}`)
}

func (w responseWriter) hit(h *Hit) {
	w.String(`{"id":`, h.ID)
	w.String(`,"document_id":`, h.DocumentID)
	w.String(`,"document_name":`, h.DocumentName)
	w.String(`,"knowledge_base":`, h.KnowledgeBase)
	w.Int(`,"ordinal":`, h.Ordinal)
	w.String(`,"title":`, h.Title)
	w.String(`,"content":`, h.Content)
	if len(h.ImportantKeywords) > 0 {
		jsonout.List(w.Writer, `,"important_keywords":`, h.ImportantKeywords, func(text *string) { w.String(``, *text) })
	}
	if len(h.Questions) > 0 {
		jsonout.List(w.Writer, `,"questions":`, h.Questions, func(text *string) { w.String(``, *text) })
	}
	w.Float(`,"score":`, h.Score)
	w.Float(`,"raw_score":`, h.RawScore)
	jsonout.Optional(w.Writer, `,"vector_similarity":`, h.VectorSimilarity, w.Float)
	jsonout.Optional(w.Writer, `,"term_similarity":`, h.TermSimilarity, w.Float)
	jsonout.Optional(w.Writer, `,"relevance":`, h.Relevance, w.Float)
	if h.Language != "" {
		w.String(`,"language":`, h.Language)
	}
	jsonout.List(w.Writer, `,"highlights":`, h.Highlights, func(fragment *string) { w.String(``, *fragment) })
	if h.TitleHighlight != "" {
		w.String(`,"title_highlight":`, h.TitleHighlight)
	}
	if h.QuestionHighlight != "" {
		w.String(`,"question_highlight":`, h.QuestionHighlight)
	}
	jsonout.List(w.Writer, `,"positions":`, h.Positions, w.position)
	jsonout.Map(w.Writer, `,"metadata":`, h.Metadata, w.Any)
	jsonout.List(w.Writer, `,"legs":`, h.Legs, w.leg)
	if h.Boost != nil {
		w.Float(`,"boost":`, *h.Boost)
	}
	w.later(h)
	if d := h.Diversity; d != nil {
		w.Int(`,"diversity":{"rank":`, d.Rank)
		jsonout.Optional(w.Writer, `,"similarity":`, d.Similarity, w.Float)
		w.Raw(`}`)
	}
	if h.Pinned != nil {
		w.String(`,"pinned":{"rule":`, h.Pinned.Rule)
		w.Raw(`}`)
	}
	if len(h.Copies) > 0 {
		jsonout.List(w.Writer, `,"copies":`, h.Copies, w.copied)
	}
	if h.Parent != nil {
		w.Any(`,"parent":`, h.Parent)
	}
	if len(h.Neighbours) > 0 {
		w.Any(`,"neighbours":`, h.Neighbours)
	}
	if h.QA != nil {
		w.Members(h.QA)
	}
	w.Raw(`}`)
}

// later writes the additions of steps after the fusion.
func (w responseWriter) later(h *Hit) {
	if account := h.SecondStage; account != nil {
		w.Float(`,"second_stage":{"words":`, account.Words)
		jsonout.Optional(w.Writer, `,"cosine":`, account.Cosine, w.Float)
		w.Float(`,"fused":`, account.Fused)
		w.Int(`,"rank":`, account.Rank)
		w.Raw(`}`)
	}
	if account := h.Rerank; account != nil {
		w.Float(`,"rerank":{"score":`, account.Score)
		w.Float(`,"fused":`, account.Fused)
		w.Int(`,"rank":`, account.Rank)
		w.Float(`,"weight":`, account.Weight)
		w.Raw(`}`)
	}
}

func (w responseWriter) position(numbers *[]float64) {
	jsonout.List(w.Writer, ``, *numbers, func(n *float64) { w.Float(``, *n) })
}

func (w responseWriter) leg(l *scoring.Contribution) {
	w.String(`{"leg":`, l.Leg)
	jsonout.Optional(w.Writer, `,"rank":`, l.Rank, w.Int)
	jsonout.Optional(w.Writer, `,"raw":`, l.Raw, w.Float)
	if l.Evidence != nil {
		w.Float(`,"evidence":`, *l.Evidence)
	}
	jsonout.Optional(w.Writer, `,"normalized":`, l.Normalized, w.Float)
	w.Float(`,"weight":`, l.Weight)
	w.Float(`,"contribution":`, l.Contribution)
	w.Raw(`}`)
}

func (w responseWriter) copied(c *Copy) {
	w.String(`{"knowledge_base":`, c.KnowledgeBase)
	w.String(`,"id":`, c.ID)
	w.String(`,"document_id":`, c.DocumentID)
	w.String(`,"document_name":`, c.DocumentName)
	w.Raw(`}`)
}

func (w responseWriter) document(d *DocumentCount) {
	w.String(`{"document_id":`, d.DocumentID)
	w.String(`,"document_name":`, d.DocumentName)
	w.Int(`,"count":`, d.Count)
	w.Raw(`}`)
}

func (w responseWriter) degraded(d *Degraded) {
	w.String(`{"leg":`, d.Leg)
	if d.KnowledgeBase != "" {
		w.String(`,"knowledge_base":`, d.KnowledgeBase)
	}
	w.String(`,"code":`, string(d.Code))
	w.String(`,"reason":`, d.Reason)
	w.Raw(`}`)
}
