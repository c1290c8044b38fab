package bank

import "math"

// How evidence becomes a probability, by logistic regression over eleven retrieval sets
// with judgments, half of the questions being about something else than the set:
// docs/relevance.md says how, and how well it holds for sets that were left out.
const (
	answerableSlope, answerableOffset = 14.9, -12.0
	relevanceSlope, relevanceOffset   = 7.4, -7.6
	relevanceDistance                 = 10.4

	// The same where evidence is the share of the question's words.
	wordsAnswerableSlope, wordsAnswerableOffset = 21.7, -5.3
	wordsRelevanceSlope, wordsRelevanceOffset   = 8.5, -3.7
	wordsRelevanceDistance                      = 17.2
)

// Answerable is the probability that one of the chunks answers the question, given the
// largest evidence that any of them has,
//
//	1 / (1 + exp(−(14.9 best − 12.0)))
func Answerable(best float64) float64 { return logistic(answerableSlope*best + answerableOffset) }

// Relevance is the probability that a chunk answers the question, given its evidence and
// the largest that any chunk has: what falls far behind the best is seldom meant,
//
//	1 / (1 + exp(−(7.4 evidence − 10.4 (best − evidence) − 7.6)))
func Relevance(evidence, best float64) float64 {
	return logistic(relevanceSlope*evidence - relevanceDistance*max(best-evidence, 0) + relevanceOffset)
}

// AnswerableByWords is Answerable where nothing but words was compared. Evidence is then a
// chunk's BM25 score over the largest that the words of the question could have, in [0, 1].
func AnswerableByWords(best float64) float64 {
	return logistic(wordsAnswerableSlope*best + wordsAnswerableOffset)
}

// RelevanceByWords is Relevance for such evidence.
func RelevanceByWords(evidence, best float64) float64 {
	distance := max(best-evidence, 0)
	return logistic(wordsRelevanceSlope*evidence - wordsRelevanceDistance*distance + wordsRelevanceOffset)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
