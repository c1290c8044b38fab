package answer

import (
	"github.com/hybridge-search/hybridge/rules"
)

// Reranked is a reranker's verdict on a hit. The hit's score is
// weight · score + (1 − weight) · fused, times its knowledge base's boost.
type Reranked struct {
	Score  float64 `json:"score" doc:"The reranker's, in [0, 1]."`
	Fused  float64 `json:"fused" doc:"The score before."`
	Rank   int     `json:"rank" doc:"The place before, from 1."`
	Weight float64 `json:"weight" doc:"Of the reranker's score."`
}

// SecondScore is a second stage's verdict on a hit, whose score is
// (text · words + vector · cosine) / (text + vector), times its knowledge base's boost.
type SecondScore struct {
	Words  float64  `json:"words" doc:"The share of the question's words, by weight, that the chunk holds, in [0, 1]."`
	Cosine *float64 `json:"cosine" doc:"Null where it is not known; the words count alone then."`
	Fused  float64  `json:"fused" doc:"The score before."`
	Rank   int      `json:"rank" doc:"The place before, from 1."`
}

// Diversity is the place of a hit before the answer was diversified.
type Diversity struct {
	Rank       int      `json:"rank" doc:"Its place before the answer was made diverse, from 1."`
	Similarity *float64 `json:"similarity" doc:"The largest cosine to a hit before it; null for the first, and without a vector."`
}

// Pinned names the rule that put a hit before the others.
type Pinned struct {
	Rule string `json:"rule"`
}

// AppliedRule is a rule that the question matches, with its effect.
type AppliedRule struct {
	KnowledgeBase string         `json:"knowledge_base"`
	Rule          string         `json:"rule"`
	Pinned        []string       `json:"pinned" doc:"Ids of the chunks that it pinned: those that the caller may see, on any page."`
	Hidden        []rules.Target `json:"hidden" doc:"What it leaves out. A key that is bound to a filter does not get it."`
}

// Parent is the section of a document that a hit is in.
type Parent struct {
	Title   string `json:"title,omitempty"`
	From    int    `json:"from" doc:"Ordinal of its first chunk."`
	To      int    `json:"to" doc:"Ordinal of its last chunk."`
	Content string `json:"content" doc:"Its chunks, those that the caller may see, with an empty line between them; at most 4000 characters around the hit."`
	// Children are the chunks of it in the answer set, the hit first.
	Children []Child `json:"children"`
}

// Child is a chunk of a section that was found.
type Child struct {
	ID      string  `json:"id"`
	Ordinal int     `json:"ordinal"`
	Score   float64 `json:"score"`
}
