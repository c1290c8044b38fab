package bank

import "math"

// fit is a logistic regression of evidence e, of how far it is behind the best b, and of how
// many chunks n the best is the best of: with more of them chance alone finds a better one,
//
//	p = 1 / (1 + exp(−(slope·e − distance·(b − e) − size·ln n + offset)))
//
// n being taken as Size has it.
type fit struct{ slope, distance, size, offset float64 }

// The constants are fitted to fifteen retrieval sets with judgments, half of the questions
// being about something else than the set: docs/relevance.md says how, and how well they
// hold for held-out sets.
var (
	answerable = fit{slope: 15.6, size: 2.96, offset: 3.67}
	relevance  = fit{slope: 7.5, distance: 11.3, size: 1.33, offset: -0.27}

	// The same where evidence is the share of the question's words.
	answerableByWords = fit{slope: 25.6, size: 2.3, offset: 6.4}
	relevanceByWords  = fit{slope: 9.8, distance: 19.3, size: 0.69, offset: -0.19}
)

// How many chunks make a difference: fewer were not measured, and among those with more, up
// to 5,000, there is none to be seen.
const fewest, enough = 50, 240

// Size is how many chunks count.
func Size(chunks int) int { return min(max(chunks, fewest), enough) }

func (f fit) of(evidence, best float64, chunks int) float64 {
	x := f.slope*evidence - f.distance*max(best-evidence, 0) - f.size*math.Log(float64(Size(chunks))) + f.offset
	return 1 / (1 + math.Exp(-x))
}

// Answerable is the probability that one of the chunks answers the question, given the
// largest evidence that any of them has.
func Answerable(best float64, chunks int) float64 { return answerable.of(best, best, chunks) }

// Relevance is the probability that a chunk answers the question, given its evidence and
// the largest that any of the chunks has: what falls far behind the best is seldom meant.
func Relevance(evidence, best float64, chunks int) float64 {
	return relevance.of(evidence, best, chunks)
}

// AnswerableByWords is Answerable where nothing but words was compared. Evidence is then a
// chunk's BM25 score over the largest that the words of the question could have, in [0, 1].
func AnswerableByWords(best float64, chunks int) float64 {
	return answerableByWords.of(best, best, chunks)
}

// RelevanceByWords is Relevance for such evidence.
func RelevanceByWords(evidence, best float64, chunks int) float64 {
	return relevanceByWords.of(evidence, best, chunks)
}
