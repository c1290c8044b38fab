package presets

import (
	"fmt"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search"
)

func init() {
	builtin["qa_four_path"] = entry{
		plan: qaFourPath,
		description: "Searches questions and answers, each by words and by vector, and puts " +
			"the four rankings together by reciprocal rank.",
		whenToUse: "For knowledge bases of kind qa, to repeat the classic search by " +
			"four paths; qa_balanced ranks better.",
	}
	builtin["qa_balanced"] = entry{
		plan: qaBalanced,
		description: "Searches questions and answers, each by words and by vector, and adds them on " +
			"one scale; the vector of the question counts most.",
		whenToUse: "First choice for knowledge bases of kind qa.",
	}
}

// perPath is how many pairs each of the four paths brings.
const perPath = 40

// samePair tells the copies of a question-answer pair: the same question of the
// same group in the same document.
var samePair = []string{"document_id", "group", engine.FieldQuestion}

// qaFourPath is the classic way to search questions with their answers: by the
// question's vector, the answer's, the question's words and the answer's, the
// four rankings put together by reciprocal rank, all counting the same:
//
//	score = Σ 1/(k + rank) over 4/(k + 1),   k = 60, ranks from 1
//
// Those who know it from Qdrant, whose k is 2 with ranks from 0, cut there at a
// sum of 0.4 of at most 4/2. The threshold here is the same share of the largest
// sum, 0.2, whatever k is; with rrf_k 1 sums and threshold are those.
func qaFourPath(req *search.Request, fields []engine.Field) (search.Plan, error) {
	share := 0.4 / 2
	p, err := qaPlan(req, fields, defaults{
		preset:    "qa_four_path",
		weights:   weights{text: 2, vector: 2},
		threshold: search.Threshold{Score: &share},
		text:      plainText(),
	})
	p.Fusion = scoring.Fusion{Method: scoring.RRF, RRFK: or(req.RRFK, scoring.DefaultRRFK)}
	return p, err
}

// qaBalanced adds the z-scores of the four paths, each over the whole knowledge
// base, and lets the words count only as far as the text index knows them, as
// balanced does for passages. A question is best found by questions.
func qaBalanced(req *search.Request, fields []engine.Field) (search.Plan, error) {
	p, err := qaPlan(req, fields, defaults{
		preset:  "qa_balanced",
		weights: weights{text: 0.2, vector: 0.8},
		parts: map[string]float64{
			engine.FieldQuestionVector: 0.5, engine.FieldAnswerVector: 0.3,
			engine.FieldQuestion: 0.15, engine.FieldAnswer: 0.05,
		},
		text: plainText(),
	})
	p.Fusion = scoring.Fusion{Method: scoring.Linear, Normalizer: scoring.ZScore}
	p.Coverage, p.Joint = true, true
	return p, err
}

// qaPlan plans one leg per path over a knowledge base of kind qa, and shows the
// copies of a pair once.
func qaPlan(req *search.Request, fields []engine.Field, d defaults) (search.Plan, error) {
	if !has(fields, engine.FieldQuestion) || !has(fields, engine.FieldAnswer) {
		return search.Plan{}, &fault.Error{
			Kind: fault.InvalidArgument, Field: "preset", Detail: fmt.Sprintf(
				"preset %s searches the fields question and answer of a knowledge base of kind qa; this one has %s",
				d.preset, fieldNames(fields)),
		}
	}
	d.topK, d.candidates = 8, fixed(perPath)
	p, err := plan(req, fields, d)
	p.Distinct = samePair
	return p, err
}

func has(fields []engine.Field, name string) bool {
	for _, f := range fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

func fieldNames(fields []engine.Field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.Name
	}
	return strings.Join(list, ", ")
}
