package bank

import (
	"fmt"
	"math"

	"github.com/hybridge-search/hybridge/fault"
)

// Vectors are the embedded bank in one language, [topics][dim]float32 each, row i of
// both being the same topic.
type Vectors struct{ Questions, Passages [][]float32 }

// Centres are what one embedding model makes of the bank. They are not changed after
// NewCentres and safe for concurrent use.
type Centres struct {
	of    map[string]centre
	usual map[pair]float64
}

// centre is the mean vector of a language's questions, and of its passages.
type centre struct{ question, passage []float64 }

// pair is the language of a question and that of a passage.
type pair struct{ question, passage string }

// NewCentres takes the embedded bank by language.
func NewCentres(bank map[string]Vectors) (*Centres, error) {
	c := &Centres{of: map[string]centre{}, usual: map[pair]float64{}}
	for language, v := range bank {
		if len(v.Questions) == 0 || len(v.Questions) != len(v.Passages) {
			return nil, fault.Invalid("bank."+language,
				fmt.Sprintf("%d questions and %d passages", len(v.Questions), len(v.Passages)),
				"as many passages as questions, at least one")
		}
		c.of[language] = centre{question: mean(v.Questions), passage: mean(v.Passages)}
	}
	for asked, q := range bank {
		for told, p := range bank {
			if len(q.Questions) != len(p.Passages) || len(q.Questions[0]) != len(p.Passages[0]) {
				return nil, fault.Invalid("bank."+told, fmt.Sprintf("%d topics of %d numbers", len(p.Passages), len(p.Passages[0])),
					fmt.Sprintf("%d topics of %d numbers, as in %s", len(q.Questions), len(q.Questions[0]), asked))
			}
			var sum float64
			for i := range q.Questions {
				sum += c.centred(q.Questions[i], p.Passages[i], pair{asked, told})
			}
			c.usual[pair{asked, told}] = sum / float64(len(q.Questions))
		}
	}
	return c, nil
}

// Evidence returns how much a chunk says about a question,
//
//	cos(q − mQ, d − mP) / r
//
// where mQ is the mean of the bank's questions in the language of the question, mP that
// of its passages in the language of the chunk, and r the mean of that cosine over the
// bank's pairs of a question and its passage in these languages: 1 is what a question and
// its answer usually have, 0 what unrelated texts have. ok is false for a language that
// the bank does not have, and for vectors of another dimension.
func (c *Centres) Evidence(question, chunk []float32, asked, told string) (evidence float64, ok bool) {
	languages := pair{asked, told}
	usual, known := c.usual[languages]
	if !known || usual <= 0 || len(question) != len(c.of[asked].question) || len(chunk) != len(c.of[told].passage) {
		return 0, false
	}
	return c.centred(question, chunk, languages) / usual, true
}

// Relevance turns evidence into the probability that the chunk answers the question,
// 1 / (1 + exp(−(10.2 evidence − 7.95))).
func Relevance(evidence float64) float64 { return 1 / (1 + math.Exp(-(10.2*evidence - 7.95))) }

// centred is the cosine of the two vectors without what their languages have in common;
// 0 where nothing is left of one of them.
func (c *Centres) centred(question, passage []float32, languages pair) float64 {
	mq, mp := c.of[languages.question].question, c.of[languages.passage].passage
	var dot, qq, pp float64
	for i := range question {
		q, p := float64(question[i])-mq[i], float64(passage[i])-mp[i]
		dot, qq, pp = dot+q*p, qq+q*q, pp+p*p
	}
	if qq == 0 || pp == 0 {
		return 0
	}
	return dot / math.Sqrt(qq*pp)
}

func mean(vectors [][]float32) []float64 {
	sum := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for i, x := range v {
			sum[i] += float64(x) / float64(len(vectors))
		}
	}
	return sum
}
