package search

import (
	"context"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/analysis"
	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/plan"
	"github.com/hybridge-search/hybridge/search/refine"
)

// Fusion is the model of ScoreTexts that uses only words and cosines.
const Fusion = "fusion"

// Limits of ScoreTexts.
const (
	MaxTexts     = 1_000
	maxTextBytes = plan.MaxRerankedText
)

// TextsRequest asks how well each of some texts, which no knowledge base holds, answers a question.
type TextsRequest struct {
	Model string // Fusion, also when empty, or a reranker of the configuration
	Query string
	Texts []string // 1 to MaxTexts; of each its first 16 KiB are read
}

// TextScores are the answer.
type TextScores struct {
	Model  string
	Scores []float64 // [len(Texts)], in [0, 1]
	// Degraded lists the parts of the fusion that were unavailable.
	Degraded []answer.Degraded
}

// textWords is the weight of words relative to evidence: a text that answers the question has an evidence of 1.
// Of 0 to 1.2, 0.8 ranked best on average of five retrieval sets; TestTextsAreRanked measures it.
const textWords = 0.8

// ScoreTexts scores texts against a question. By a reranker the scores are that model's. By fusion a
// score is the relevance of the text, given the evidence of its cosine (package bank) and its BM25
// score among the texts; by BM25 alone if the cosines are unavailable or their scale is unknown.
func (s *Searcher) ScoreTexts(ctx context.Context, req *TextsRequest) (*TextScores, error) {
	if err := s.validateTexts(req); err != nil {
		return nil, err
	}
	texts := make([]string, len(req.Texts))
	for i, text := range req.Texts {
		texts[i] = strings.ToValidUTF8(text[:min(len(text), maxTextBytes)], "")
	}
	if reranker := s.Rerankers[req.Model]; reranker != nil {
		scores, err := refine.Rerank(ctx, reranker, req.Query, texts)
		return &TextScores{Model: req.Model, Scores: scores}, err
	}
	scored := &TextScores{Model: Fusion, Degraded: []answer.Degraded{}}
	words := s.wordsOfTexts(req.Query, texts)
	evidence, err := s.evidenceOfTexts(ctx, req.Query, texts)
	if err != nil {
		scored.Degraded = append(scored.Degraded, answer.NewDegraded(string(engine.FieldVector), "", err))
		scored.Scores = relevances(words, bank.RelevanceByWords)
		return scored, nil
	}
	for i := range words {
		evidence[i] = (evidence[i] + textWords*words[i]) / (1 + textWords)
	}
	scored.Scores = relevances(evidence, bank.Relevance)
	return scored, nil
}

func (s *Searcher) validateTexts(req *TextsRequest) error {
	if err := (&plan.Request{Query: req.Query}).ValidateQuery(); err != nil {
		return err
	}
	if n := len(req.Texts); n < 1 || n > MaxTexts {
		return fault.Invalid("documents", fault.Length(n), "a list of 1 to 1000 texts")
	}
	if req.Model != "" && req.Model != Fusion && s.Rerankers[req.Model] == nil {
		return fault.Invalid("model", req.Model, "fusion, or one of the configured rerankers: "+names(s.Rerankers))
	}
	return nil
}

// relevances of texts with this evidence.
func relevances(evidence []float64, of func(evidence, best float64, chunks int) float64) []float64 {
	best := slices.Max(evidence)
	scores := make([]float64, len(evidence))
	for i, e := range evidence {
		scores[i] = of(e, best, len(evidence))
	}
	return scores
}

// Parameters of BM25, as the engines have them.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// wordsOfTexts is each text's BM25 score, with the texts as the corpus, over the largest possible
// score of the question's words, in [0, 1].
func (s *Searcher) wordsOfTexts(query string, texts []string) []float64 {
	parsed := s.Analyzer.ParsePlain(query)
	terms := map[string]int{}
	for i, term := range parsed.Terms {
		if !term.Stop {
			terms[term.Text] = i
		}
	}
	frequencies := analysis.Frequencies{Docs: len(texts), DF: make([]int, len(parsed.Terms))}
	held, lengths, sum := make([]map[int]int, len(texts)), make([]int, len(texts)), 0
	for i, text := range texts {
		held[i] = map[int]int{}
		for _, token := range s.Analyzer.Tokens(text) {
			lengths[i]++
			if term, asked := terms[token.Text]; asked {
				held[i][term]++
			}
		}
		for term := range held[i] {
			frequencies.DF[term]++
		}
		sum += lengths[i]
	}
	bound, average := 0.0, float64(sum)/float64(len(texts))
	for _, term := range terms {
		bound += frequencies.IDF(term) * (bm25K1 + 1)
	}
	scores := make([]float64, len(texts))
	for i := range scores {
		norm := bm25K1 * (1 - bm25B + bm25B*float64(lengths[i])/max(average, 1))
		for term, count := range held[i] {
			scores[i] += frequencies.IDF(term) * (bm25K1 + 1) * float64(count) / (float64(count) + norm) / bound
		}
	}
	return scores
}

// evidenceOfTexts computes evidence from cosines of the default model; 0 for blank texts.
func (s *Searcher) evidenceOfTexts(ctx context.Context, query string, texts []string) ([]float64, error) {
	question := ask.EmbedBy(ctx, s.Embedder, query)
	if question.Err != nil {
		return nil, question.Err
	}
	embedder, can := s.Embedder.(ask.PassageEmbedder)
	if !can || s.Bank == nil {
		return nil, fault.New(fault.Unavailable, "no embedding service is configured for texts")
	}
	centres, err := s.Bank.Centres(s.Embedder.Model())
	if err != nil {
		return nil, err
	}
	var at []int
	var read []string
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			at, read = append(at, i), append(read, text)
		}
	}
	vectors, err := ask.Passages(ctx, embedder, read)
	if err != nil {
		return nil, err
	}
	main := mainLanguage(centres, read)
	asked := languageOf(centres, query, main)
	evidence := make([]float64, len(texts))
	for i, vector := range vectors {
		e, ok := centres.Evidence(question.Numbers, vector, asked, languageOf(centres, read[i], main))
		if !ok {
			return nil, fault.New(fault.Unsupported,
				"the scale of %s's cosines is not known for these texts", s.Embedder.Model())
		}
		evidence[at[i]] = e
	}
	return evidence, nil
}

// languageOf is the language of a text, if the scale of cosines is known for it.
func languageOf(centres *bank.Centres, text, otherwise string) string {
	if l := language.Of(text); l != "" {
		if _, known := centres.Languages[l]; known {
			return l
		}
	}
	return otherwise
}

// mainLanguage is the language of most texts.
func mainLanguage(centres *bank.Centres, texts []string) (most string) {
	votes := map[string]int{}
	for _, text := range texts {
		if l := languageOf(centres, text, ""); l != "" {
			if votes[l]++; votes[l] > votes[most] {
				most = l
			}
		}
	}
	return most
}
