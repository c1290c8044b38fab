package search

import (
	"context"

	"github.com/hybridge-search/hybridge/embedding/bank"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
	"github.com/hybridge-search/hybridge/search/answer"
	"github.com/hybridge-search/hybridge/search/ask"
	"github.com/hybridge-search/hybridge/search/engines"
	"github.com/hybridge-search/hybridge/search/relevance"
)

// Bank knows the scale of cosines of embedding models. An error of the kind Unavailable
// passes; of any other kind nothing will ever be known of the model.
type Bank interface {
	Centres(model string) (*bank.Centres, error)
}

// newJudge takes legs with their vectors. One that has nothing to go by is fine.
func (s *Searcher) newJudge(ctx context.Context, rt *retrieval, legs []leg) *relevance.Estimator {
	j := &relevance.Estimator{}
	for i := range legs {
		switch {
		case legs[i].Kind == scoring.Text && legs[i].Query == 0:
			j.Words = append(j.Words, i)
		case legs[i].Kind == scoring.Vector && legs[i].err == nil:
			j.Vectors++
		}
	}
	fields := rt.KB.FieldsOf(scoring.Vector)
	if j.Profile, j.Err = s.profileOf(ctx, rt.Subject, fields); j.Err != nil {
		return j
	}
	j.Asked = rt.question.LanguageFor(j.Profile.Main)
	for i := range legs {
		if legs[i].Kind != scoring.Vector || legs[i].err != nil {
			continue
		}
		scale, err := s.scaleOf(ctx, rt, &legs[i], rt.question.In(legs[i].Query).LanguageFor(j.Profile.Main))
		if err != nil {
			j.Err = err
			continue
		}
		scale.Leg, scale.Name, scale.Asked = i, legs[i].Name, rt.question.In(legs[i].Query).LanguageFor(j.Profile.Main)
		j.Chunks = max(j.Chunks, scale.Chunks)
		j.Scales = append(j.Scales, scale)
	}
	return j
}

// profileOf is that of the first vector field; of a knowledge base without vectors, that
// of its texts.
func (s *Searcher) profileOf(ctx context.Context, subject *engines.Subject, fields []string) (*relevance.Profile, error) {
	p, err := &relevance.Profile{}, error(nil)
	if len(fields) > 0 {
		p, err = s.profiles.of(ctx, subject, fields[0])
	}
	if err == nil && p.Main == "" {
		p, err = s.profiles.of(ctx, subject, "")
	}
	if err != nil {
		return &relevance.Profile{}, err
	}
	return p, nil
}

// scaleOf makes the scale of a vector leg.
func (s *Searcher) scaleOf(ctx context.Context, rt *retrieval, l *leg, asked string) (relevance.LegScale, error) {
	scale := relevance.LegScale{}
	p, err := s.profiles.of(ctx, rt.Subject, l.Field)
	if err != nil {
		return scale, err
	}
	centres, err := s.Bank.Centres(rt.question.ModelFor(&rt.KB))
	if err != nil {
		return scale, err
	}
	scale.Chunks = p.Chunks
	for _, c := range p.Centroids {
		line, ok := centres.Scale(l.vector, c.Mean, asked, c.Language)
		if !ok {
			continue
		}
		told := relevance.Part{
			Scale: line, Language: c.Language, Share: float64(c.Chunks) / float64(p.Sampled()),
			Middle: relevance.CosineWith(c.Mean, l.vector),
		}
		if exact, ok := centres.Exact(l.vector, asked, c.Language); ok && c.Language != asked {
			told.Exact = &exact
		}
		scale.Parts = append(scale.Parts, told)
	}
	return scale, nil
}

// assess calibrates the relevance of what was found.
func (s *Searcher) assess(ctx context.Context, set *answerSet) {
	all := make([]*relevance.Found, len(set.retrievals))
	for i := range set.retrievals {
		rt := &set.retrievals[i]
		all[i] = &rt.Found
		if rt.Err != nil || rt.Estimator == nil {
			continue
		}
		if !rt.Estimator.ByVectors() {
			if err := s.judgeByWords(ctx, rt); err != nil {
				rt.Estimator.Err = err
			}
		}
		if rt.lacksRelevance() {
			set.degraded = append(set.degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, rt.Estimator.Err))
		}
	}
	set.calibrated = relevance.Calibrate(all)
}

// lacksRelevance reports whether relevance is missing where a later search will have it, or
// where the request asks to cut by it.
func (rt *retrieval) lacksRelevance() bool {
	j := rt.Estimator
	if j.Err == nil || j.ByVectors() || j.Bound > 0 {
		return false
	}
	return engines.IsUnavailable(j.Err) || rt.Plan.Threshold.ByRelevance()
}

// judgeByWords finds the largest score that the words of the question could have, for an
// answer that no vector leg took part in. The share of it that a chunk reaches is its
// evidence.
func (s *Searcher) judgeByWords(ctx context.Context, rt *retrieval) error {
	j := rt.Estimator
	if j.Asked == "" || rt.KB.BM25 == engine.BM25Okapi || !j.Profile.Has(j.Asked) {
		return nil // words of another language say nothing
	}
	for i := range rt.legs {
		l := rt.legs[i] // a copy: what the search used stays as it was
		if l.Kind != scoring.Text || l.Query > 0 || l.err != nil || l.text.Empty() {
			continue
		}
		if l.frequencies.DF == nil {
			stats, err := engines.Ask(ctx, rt.Subject, engines.CallStatistics, rt.Engine.Statistics, &engine.StatisticsRequest{
				KB: rt.KB, Field: l.Field, Terms: rt.vocabulary(0).Words, Alone: true,
			})
			if err != nil {
				return err
			}
			if stats.TextErr != nil {
				return stats.TextErr
			}
			l.frequencies = ask.FrequenciesOf(rt.vocabulary(0), stats)
			l.compose(rt.question.Parsed, s.asker().Expander(&rt.KB), rt.Plan.Text)
		}
		j.Bound = max(j.Bound, l.bound)
		docs := l.frequencies.Docs
		if l.own.DF != nil { // the frequencies are those of a pool
			docs = l.own.Docs
		}
		j.Chunks = max(j.Chunks, docs)
	}
	return nil
}
