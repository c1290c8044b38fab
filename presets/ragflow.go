package presets

import (
	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func init() {
	builtin["ragflow"] = entry{
		plan: ragflow,
		description: "Finds as RAGFlow does: words and cosine choose candidates, the best are scored again " +
			"by shared words (0.7) and cosine (0.3), and cut at 0.2.",
		whenToUse: "For programs that were tuned on RAGFlow.",
	}
}

// What RAGFlow's retrieval has, see docs/decisions/0012-ragflow.md.
const (
	ragflowCandidates = 1024
	ragflowTopK       = 30
	ragflowWindow     = 64
	ragflowThreshold  = 0.2
)

// ragflowFields are its boosts over that of content.
func ragflowFields() map[string]float64 {
	return map[string]float64{engine.PartTitle: 5, engine.PartKeywords: 15, engine.PartQuestions: 10}
}

// ragflow finds as RAGFlow does: keywords and cosine, 0.05 to 0.95, choose candidates that hold 30 % of
// the question's words, or 10 % where there are none; the best of them are scored by the share of the
// question's words that they hold and their cosine, 0.7 to 0.3; thresholds cut this similarity.
// A reranker's score replaces the cosine. Weights apply to the second stage.
func ragflow(req *search.Request, fields []engine.Field) (search.Plan, error) {
	weighed := weights{text: 0.7, vector: 0.3}.with(req.Weights)
	for name := range req.Weights {
		if name != string(scoring.Text) && name != string(scoring.Vector) {
			return search.Plan{}, fault.Invalid("weights."+name, req.Weights[name],
				"left out: only text and vector have a weight in the second stage")
		}
	}
	first, least := *req, ragflowThreshold
	first.Weights = nil
	if weighed.vector == 0 {
		least = 0 // of words alone it means nothing
	}
	p, err := plan(&first, fields, defaults{
		preset:     "ragflow",
		weights:    weights{text: 0.05, vector: 0.95},
		topK:       ragflowTopK,
		candidates: fixed(ragflowCandidates),
		threshold:  search.Threshold{Score: &least},
		text: analysis.Rules{
			Weighting: analysis.TFIDF, Minimum: analysis.Minimum{Value: 30, Percent: true},
			Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5, SynonymBoost: synonymBoost,
		},
	})
	if err != nil {
		return p, err
	}
	if p.Fields == nil {
		p.DefaultBoosts = ragflowFields()
	}
	p.Fusion, p.Joint = scoring.Fusion{Method: scoring.ScriptScore}, true
	if or(req.TextRequired, true) {
		p.TextRequired, p.Relaxations = true, []analysis.Minimum{{Value: 10, Percent: true}}
	}
	size := max(or(req.Limit, p.TopK), 1)
	p.SecondStage = &search.SecondStage{
		Window: min((ragflowWindow+size-1)/size*size, p.Candidates), Text: weighed.text, Vector: weighed.vector,
	}
	if p.Rerank != nil {
		rerankAsCosine(&p, req, weighed)
	}
	return p, nil
}

// rerankAsCosine has a reranker's score stand for the cosine.
func rerankAsCosine(p *search.Plan, req *search.Request, weighed weights) {
	p.SecondStage.Text, p.SecondStage.Vector = 1, 0
	if req.Rerank.Window == nil {
		p.Rerank.Window = p.SecondStage.Window
	}
	if req.Rerank.Weight == nil && weighed.text+weighed.vector > 0 {
		p.Rerank.Weight = weighed.vector / (weighed.text + weighed.vector)
	}
}
