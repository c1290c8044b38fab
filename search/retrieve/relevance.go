package retrieve

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

// Bank knows the scale of cosines of embedding models. Unavailable is temporary, any other error is permanent.
type Bank interface {
	Centres(model string) (*bank.Centres, error)
}

// newEstimator takes legs with their vectors. An estimator without data is valid.
func (s *Retriever) newEstimator(ctx context.Context, t *target, legs []leg) *relevance.Estimator {
	j := &relevance.Estimator{}
	for i := range legs {
		switch {
		case legs[i].Kind == scoring.Text && legs[i].Query == 0:
			j.Words = append(j.Words, i)
		case legs[i].Kind == scoring.Vector && legs[i].err == nil:
			j.Vectors++
		}
	}
	fields := t.KB.FieldsOf(scoring.Vector)
	if j.Profile, j.Err = s.profileOf(ctx, t.Subject, fields); j.Err != nil {
		return j
	}
	j.Asked = t.Question.LanguageFor(j.Profile.Main)
	for i := range legs {
		if legs[i].Kind != scoring.Vector || legs[i].err != nil {
			continue
		}
		scale, err := s.scaleOf(ctx, t, &legs[i], t.Question.In(legs[i].Query).LanguageFor(j.Profile.Main))
		if err != nil {
			j.Err = err
			continue
		}
		scale.Leg, scale.Name, scale.Asked = i, legs[i].Name, t.Question.In(legs[i].Query).LanguageFor(j.Profile.Main)
		j.Chunks = max(j.Chunks, scale.Chunks)
		j.Scales = append(j.Scales, scale)
	}
	return j
}

// profileOf gives the profile of the first vector field; of the texts if there are no
// vectors.
func (s *Retriever) profileOf(
	ctx context.Context, subject *engines.Subject, fields []string,
) (*relevance.Profile, error) {
	p, err := &relevance.Profile{}, error(nil)
	if len(fields) > 0 {
		p, err = s.Profiles.of(ctx, subject, fields[0])
	}
	if err == nil && p.Main == "" {
		p, err = s.Profiles.of(ctx, subject, "")
	}
	if err != nil {
		return &relevance.Profile{}, err
	}
	return p, nil
}

// scaleOf makes the scale of a vector leg.
func (s *Retriever) scaleOf(ctx context.Context, t *target, l *leg, asked string) (relevance.LegScale, error) {
	scale := relevance.LegScale{}
	p, err := s.Profiles.of(ctx, t.Subject, l.Field)
	if err != nil {
		return scale, err
	}
	centres, err := s.Bank.Centres(t.Question.ModelFor(&t.KB))
	if err != nil {
		return scale, err
	}
	scale.Chunks = p.Chunks
	for _, c := range p.Centroids {
		line, ok := centres.Scale(l.Vector, c.Mean, asked, c.Language)
		if !ok {
			continue
		}
		part := relevance.Part{
			Scale: line, Language: c.Language, Share: float64(c.Chunks) / float64(p.Sampled()),
			Middle: relevance.CosineWith(c.Mean, l.Vector),
		}
		if exact, ok := centres.Exact(l.Vector, asked, c.Language); ok && c.Language != asked {
			part.Exact = &exact
		}
		scale.Parts = append(scale.Parts, part)
	}
	return scale, nil
}

// Calibrate computes the relevance of the hits, and lists as degraded where it is unknown.
func (s *Retriever) Calibrate(
	ctx context.Context, retrievals []Retrieval,
) (_ *relevance.Calibrated, degraded []answer.Degraded) {
	all := make([]*relevance.Found, len(retrievals))
	for i := range retrievals {
		rt := &retrievals[i]
		all[i] = rt.Answered.Found
		if rt.Err != nil || rt.Estimator == nil {
			continue
		}
		if !rt.Estimator.ByVectors() {
			if err := s.boundWords(ctx, rt); err != nil {
				rt.Estimator.Err = err
			}
		}
		if rt.lacksRelevance() {
			degraded = append(degraded, answer.NewDegraded(answer.StepRelevance, rt.KB.ID, rt.Estimator.Err))
		}
	}
	return relevance.Calibrate(all), degraded
}

// lacksRelevance reports whether relevance is missing that a later search will have, or
// that the request cuts by.
func (rt *Retrieval) lacksRelevance() bool {
	j := rt.Estimator
	if j.Err == nil || j.ByVectors() || j.Bound > 0 {
		return false
	}
	return engines.IsUnavailable(j.Err) || rt.Plan.Threshold.ByRelevance()
}

// boundWords finds the largest possible score of the question's words, for an
// answer without any vector leg. The share of it that a chunk reaches is its
// evidence.
func (s *Retriever) boundWords(ctx context.Context, rt *Retrieval) error {
	j := rt.Estimator
	if j.Asked == "" || rt.KB.BM25 == engine.BM25Okapi || !j.Profile.Has(j.Asked) {
		return nil // words of another language are no evidence
	}
	for i := range rt.Legs {
		l := rt.Legs[i] // a copy: what the search used stays as it was
		if l.Kind != scoring.Text || l.Query > 0 || l.err != nil || l.Text.Empty() {
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
			l.compose(rt.Question.Parsed, s.Asker.Expander(&rt.KB), rt.Plan.Text)
		}
		j.Bound = max(j.Bound, l.bound)
		docs := l.frequencies.Docs
		if l.own.DF != nil { // the frequencies are over a pool
			docs = l.own.Docs
		}
		j.Chunks = max(j.Chunks, docs)
	}
	return nil
}
