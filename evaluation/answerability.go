package evaluation

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/analysis/language"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

// Questions of a set that are asked, and of every other one. They are drawn by a hash of
// their id, so every run asks the same.
const (
	ownQuestions   = 250
	otherQuestions = 60
	judgedHits     = 10
)

// AskedKind says what is known of a question beforehand.
type AskedKind int

// What a question may be to a knowledge base.
const (
	IsAnswerable AskedKind = iota // one of its own
	IsOffTopic                    // of a set about something else
	IsGone                        // its own, but what answers it was filtered out
)

// Asked is the answerability reported with an answer, and whether it was right.
type Asked struct {
	Preset     string     `json:"preset"`
	Set        string     `json:"set"`
	Family     string     `json:"family"`
	Query      string     `json:"query"`
	Kind       AskedKind  `json:"kind"`
	Answerable float64    `json:"answerable"` // as answered
	Best       float64    `json:"best"`       // evidence
	Chunks     int        `json:"chunks"`     // that it is the best of
	Empty      bool       `json:"empty"`      // by the threshold auto
	Hits       []AskedHit `json:"hits"`
}

// AskedHit is a hit and whether the judgments call it relevant.
type AskedHit struct {
	Relevance float64 `json:"relevance"`
	Evidence  float64 `json:"evidence"`
	Relevant  bool    `json:"relevant"`
}

// Answerability asks every set its own questions, those of other families of sets in the
// same language, and its own with the answers filtered out. Sets are of one family when
// their names begin alike, up to the first _.
type Answerability struct {
	Preset string
	// SameLanguage leaves out sets whose questions are in another language than their passages.
	SameLanguage bool

	Asked   []Asked
	Unknown int // questions of whose answers nothing was known

	sets []*Set
}

// NewAnswerability is about these sets.
func NewAnswerability(preset string, sets []*Set) *Answerability {
	return &Answerability{Preset: preset, SameLanguage: preset == "text", sets: sets}
}

// Family is the name of a set up to the first _: sets of one family have texts or questions in common, such as
// translations.
func Family(set string) string {
	name, _, _ := strings.Cut(set, "_")
	return name
}

func (s *Set) family() string { return Family(s.Name) }

// languages returns the most frequent language of questions, and of passages.
func (s *Set) languages() (asked, told string) {
	questions, passages := map[string]int{}, map[string]int{}
	for i := range s.Queries {
		questions[language.Of(s.Queries[i].Text)]++
	}
	for i := range s.Corpus {
		passages[language.Of(s.Corpus[i].Text)]++
	}
	return most(questions), most(passages)
}

func most(votes map[string]int) string {
	best := ""
	for l, n := range votes {
		if n > votes[best] || n == votes[best] && l < best {
			best = l
		}
	}
	return best
}

// drawn is n of the judged questions.
func (s *Set) drawn(n int) []*Query {
	var judged []*Query
	for i := range s.Queries {
		if s.answers(&s.Queries[i]) != nil {
			judged = append(judged, &s.Queries[i])
		}
	}
	slices.SortFunc(judged, func(a, b *Query) int {
		if x, y := lot(a.ID), lot(b.ID); x != y {
			return int(int64(x) - int64(y))
		}
		return strings.Compare(a.ID, b.ID)
	})
	return judged[:min(n, len(judged))]
}

func lot(id string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id))
	return hash.Sum32()
}

// answers are the ids of the passages that answer a question.
func (s *Set) answers(q *Query) []string {
	var ids []string
	for id, grade := range s.Judgments[q.ID] {
		if grade > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Run asks the questions of one of the sets, which is stored.
func (a *Answerability) Run(ctx context.Context, s Searcher, stored *StoredSet, set *Set) error {
	asked, told := set.languages()
	if a.SameLanguage && asked != told {
		return nil
	}
	var all []ask
	for _, q := range set.drawn(ownQuestions) {
		all = append(all, ask{set: set, query: q, kind: IsAnswerable}, ask{set: set, query: q, kind: IsGone})
	}
	for _, other := range a.sets {
		if language, _ := other.languages(); other.family() == set.family() || language != asked {
			continue
		}
		for _, q := range other.drawn(otherQuestions) {
			all = append(all, ask{set: set, query: q, kind: IsOffTopic})
		}
	}
	answers := make([]*Asked, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() (err error) {
			answers[i], err = all[i].answer(ctx, s, stored, a.Preset)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, answer := range answers {
		if answer == nil {
			a.Unknown++
			continue
		}
		a.Asked = append(a.Asked, *answer)
	}
	return nil
}

// ask is one question to a set.
type ask struct {
	set   *Set
	query *Query
	kind  AskedKind
}

// answer is nil where nothing is known of its relevance.
func (a *ask) answer(ctx context.Context, s Searcher, stored *StoredSet, preset string) (*Asked, error) {
	system := Preset(preset)
	req := system.request(stored.bases[0].ID, a.query)
	req.TopK, req.Explain = new(judgedHits), true
	if a.kind == IsGone {
		ids, err := json.Marshal(map[string][]string{"not": a.set.answers(a.query)})
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "leave out the answers of query %s", a.query.ID)
		}
		req.Filter = filter.Expression{"document_id": ids}
	}
	r, err := s.Search(ctx, access.Scope{Tenant: tenant}, req)
	if err != nil {
		return nil, fault.Wrap(fault.KindOf(err), err, "query %s to %s", a.query.ID, a.set.Name)
	}
	if r.Answerable == nil || len(r.Explain.Relevance) == 0 {
		return nil, nil //nolint:nilnil // nothing is known
	}
	result := &Asked{
		Preset: preset, Set: a.set.Name, Family: a.set.family(), Query: a.query.ID, Kind: a.kind,
		Answerable: *r.Answerable, Empty: true,
	}
	result.Chunks = r.Explain.Relevance[0].Chunks
	if best := r.Explain.Relevance[0].Best; best != nil { // else nothing was found
		result.Best = *best
	}
	auto := search.AutoThreshold()
	for i := range r.Hits {
		hit := &r.Hits[i]
		if hit.Relevance == nil {
			continue
		}
		result.Empty = result.Empty && *hit.Relevance < *auto.Relevance
		result.Hits = append(result.Hits, AskedHit{
			Relevance: *hit.Relevance, Evidence: r.Explain.Relevance[0].EvidenceOf(hit),
			Relevant: a.kind == IsAnswerable && a.set.Judgments[a.query.ID][hit.ID] > 0,
		})
	}
	result.Empty = result.Empty || result.Answerable < *auto.Answerable
	return result, nil
}
