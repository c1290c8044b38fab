package bank

import (
	"fmt"
	"math"

	"github.com/hybridge-search/hybridge/fault"
)

// Vectors are the embedded bank in one language, [topics][dim]float32 each, row i of
// both being the same topic.
type Vectors struct{ Questions, Passages [][]float32 }

// Centres holds the statistics of the bank under one embedding model. It is plain data,
// immutable after NewCentres and safe for concurrent use.
type Centres struct {
	Model string `json:"model"`
	// Bank is the fingerprint of the texts that were embedded.
	Bank      string            `json:"bank"`
	Languages map[string]Centre `json:"languages"`
	// Usual is the mean of what a question and its passage have in common beyond their
	// languages, by the language of the question and that of the passage.
	Usual map[string]map[string]float64 `json:"usual"`
}

// Centre is the mean vector of a language's questions and of its passages, [dim]float32,
// each text's vector taken with length 1.
type Centre struct {
	Question []float32 `json:"question"`
	Passage  []float32 `json:"passage"`
}

// NewCentres takes the embedded bank by language.
func NewCentres(bank map[string]Vectors) (*Centres, error) {
	c := &Centres{Languages: map[string]Centre{}, Usual: map[string]map[string]float64{}}
	for language, v := range bank {
		if len(v.Questions) == 0 || len(v.Questions) != len(v.Passages) {
			return nil, fault.Invalid("bank."+language,
				fmt.Sprintf("%d questions and %d passages", len(v.Questions), len(v.Passages)),
				"as many passages as questions, at least one")
		}
		c.Languages[language] = Centre{Question: mean(v.Questions), Passage: mean(v.Passages)}
	}
	for asked, q := range bank {
		c.Usual[asked] = map[string]float64{}
		for told, p := range bank {
			if len(q.Questions) != len(p.Passages) || len(q.Questions[0]) != len(p.Passages[0]) {
				return nil, fault.Invalid("bank."+told, fmt.Sprintf("%d topics of %d numbers", len(p.Passages), len(p.Passages[0])),
					fmt.Sprintf("%d topics of %d numbers, as in %s", len(q.Questions), len(q.Questions[0]), asked))
			}
			var sum float64
			for i := range q.Questions {
				sum += c.centred(q.Questions[i], p.Passages[i], asked, told)
			}
			c.Usual[asked][told] = sum / float64(len(q.Questions))
		}
	}
	return c, nil
}

// Dimensions is the length of the model's vectors, 0 where there are none.
func (c *Centres) Dimensions() int {
	for _, centre := range c.Languages {
		return len(centre.Question)
	}
	return 0
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
	usual := c.Usual[asked][told]
	if usual <= 0 || len(question) != len(c.Languages[asked].Question) || len(chunk) != len(c.Languages[told].Passage) {
		return 0, false
	}
	return c.centred(question, chunk, asked, told) / usual, true
}

// Scale is a straight line from the cosine of a question and a chunk to evidence.
type Scale struct {
	Slope  float64 `json:"slope"`
	Offset float64 `json:"offset"`
}

// Evidence converts a cosine to evidence.
func (s Scale) Evidence(cosine float64) float64 { return s.Slope*cosine + s.Offset }

// Scale returns evidence as a function of the cosine for chunks whose own vectors are not
// at hand: their mean vector, of vectors of length 1, stands for a chunk wherever it stands
// without the question,
//
//	(cos(q, d) − q·mP − mQ·mean + mQ·mP) / (|q − mQ| · √(1 − 2 mP·mean + |mP|²) · r)
//
// so that chunks of one language keep the order of their cosines. ok as in Evidence.
func (c *Centres) Scale(question, chunks []float32, asked, told string) (s Scale, ok bool) {
	mq, mp := c.Languages[asked].Question, c.Languages[told].Passage
	usual := c.Usual[asked][told]
	length := norm(question)
	if usual <= 0 || length == 0 || len(question) != len(mq) || len(chunks) != len(mp) {
		return s, false
	}
	var qp, mk, mm, mpk, pp, qq float64
	for i := range question {
		q, m, p, k := float64(question[i])/length, float64(mq[i]), float64(mp[i]), float64(chunks[i])
		qp, mk, mm, mpk, pp = qp+q*p, mk+m*k, mm+m*p, mpk+p*k, pp+p*p
		qq += (q - m) * (q - m)
	}
	spread := 1 - 2*mpk + pp
	if qq == 0 || spread <= 0 {
		return s, false
	}
	s.Slope = 1 / (math.Sqrt(qq*spread) * usual)
	s.Offset = (mm - qp - mk) * s.Slope
	return s, true
}

// Exact gives the evidence of a chunk from two cosines, where its vector is not at hand: that
// with the question without what is common to questions in its language, and that with what
// is common to passages in the chunk's language.
type Exact struct {
	Question, Passage []float32 // [dim], what the chunk is compared with

	lengths [2]float64 // of the two
	common  float64    // their product
	usual   float64
}

// Exact returns it for chunks in a language. ok as in Evidence.
func (c *Centres) Exact(question []float32, asked, told string) (e Exact, ok bool) {
	mq, mp := c.Languages[asked].Question, c.Languages[told].Passage
	length := norm(question)
	e = Exact{Question: make([]float32, len(question)), Passage: mp, usual: c.Usual[asked][told]}
	if e.usual <= 0 || length == 0 || len(question) != len(mq) || len(question) != len(mp) {
		return e, false
	}
	for i, x := range question {
		u := float64(x)/length - float64(mq[i])
		e.Question[i] = float32(u)
		e.common += u * float64(mp[i])
	}
	e.lengths = [2]float64{norm(e.Question), norm(mp)}
	return e, e.lengths[0] > 0 && e.lengths[1] > 0
}

// Evidence returns a chunk's evidence from its cosines with Question and Passage.
func (e *Exact) Evidence(question, passage float64) float64 {
	spread := 1 - 2*e.lengths[1]*passage + e.lengths[1]*e.lengths[1] // |d - mP|²
	if spread <= 0 {
		return 0
	}
	return (e.lengths[0]*question - e.common) / (e.lengths[0] * math.Sqrt(spread) * e.usual)
}

// centred is the cosine of the two vectors, of length 1, without what their languages
// have in common; 0 where nothing is left of one of them.
func (c *Centres) centred(question, passage []float32, asked, told string) float64 {
	mq, mp := c.Languages[asked].Question, c.Languages[told].Passage
	lengthQ, lengthP := norm(question), norm(passage)
	if lengthQ == 0 || lengthP == 0 {
		return 0
	}
	var dot, qq, pp float64
	for i := range question {
		q, p := float64(question[i])/lengthQ-float64(mq[i]), float64(passage[i])/lengthP-float64(mp[i])
		dot, qq, pp = dot+q*p, qq+q*q, pp+p*p
	}
	if qq == 0 || pp == 0 {
		return 0
	}
	return dot / math.Sqrt(qq*pp)
}

func norm(v []float32) float64 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return math.Sqrt(square)
}

// mean averages vectors of length 1.
func mean(vectors [][]float32) []float32 {
	sum := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		length := norm(v)
		if length == 0 {
			continue
		}
		for i := range min(len(v), len(sum)) {
			sum[i] += float64(v[i]) / length / float64(len(vectors))
		}
	}
	out := make([]float32, len(sum))
	for i, x := range sum {
		out[i] = float32(x)
	}
	return out
}
