package plan

// SecondStage scores the best of what the legs found anew, and ends the answer there:
//
//	score = (text · words + vector · cosine) / (text + vector)
//
// where words is the share of the question's words, by weight, that the chunk holds. What has no
// cosine is scored by its words alone. It is how RAGFlow ranks; docs/decisions/0012-ragflow.md
// has the source.
type SecondStage struct {
	Window int     `json:"window"` // how many chunks are scored
	Text   float64 `json:"text"`   // weight of the words
	Vector float64 `json:"vector"` // weight of the cosine
}
