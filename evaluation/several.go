package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/search"
)

// severalQuestions of each set are asked.
const severalQuestions = 200

// Several asks the questions of some sets over all of them at once: each in a knowledge
// base of its own, and all passages in one. A question is answered by the passages judged
// in its own set, and in other sets of its family by passages of the same id, which are
// translations, or of the question's own id, which is its pair.
type Several struct {
	Sets    []*Set
	Asked   []*Set
	Results []SeveralResult
}

// SeveralResult is nDCG@10 of a system, by set asked.
type SeveralResult struct {
	System   string
	One, Own []float64 // all passages in one knowledge base; each set in its own
}

// StoreAll writes several sets, each into a knowledge base of its own, and all of them
// into one. bases are the ids of the former.
func StoreAll(ctx context.Context, e engine.Engine, sets []*Set) (stored *StoredSet, bases []string, err error) {
	stored = &StoredSet{engine: e}
	all := &Set{Name: "all", Dimensions: sets[0].Dimensions, Model: sets[0].Model}
	var everything []engine.Chunk
	for _, set := range sets {
		chunks := make([]engine.Chunk, len(set.Corpus))
		for i := range set.Corpus {
			chunks[i] = set.Corpus[i].chunk()
			chunks[i].ID = set.Name + "/" + chunks[i].ID
			chunks[i].DocumentID = chunks[i].ID
		}
		if err := stored.write(ctx, set, engine.KindChunks, chunks); err != nil {
			return nil, nil, errors.Join(err, stored.Remove(ctx))
		}
		bases = append(bases, stored.bases[len(stored.bases)-1].ID)
		everything = append(everything, chunks...)
	}
	if err := stored.write(ctx, all, engine.KindChunks, everything); err != nil {
		return nil, nil, errors.Join(err, stored.Remove(ctx))
	}
	return stored, bases, nil
}

// Run asks by one system.
func (v *Several) Run(ctx context.Context, s Searcher, stored *StoredSet, bases []string, system System) error {
	result := SeveralResult{System: system.Name}
	one := stored.bases[len(stored.bases)-1].ID
	for _, set := range v.Asked {
		for _, way := range []struct {
			bases []string
			into  *[]float64
		}{{[]string{one}, &result.One}, {bases, &result.Own}} {
			figure, err := v.ask(ctx, s, set, way.bases, system)
			if err != nil {
				return err
			}
			*way.into = append(*way.into, figure)
		}
	}
	v.Results = append(v.Results, result)
	return nil
}

func (v *Several) ask(ctx context.Context, s Searcher, set *Set, bases []string, system System) (float64, error) {
	queries := set.drawn(severalQuestions)
	figures := make([]float64, len(queries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range queries {
		group.Go(func() error {
			req := system.request(bases[0], q)
			req.KnowledgeBases, req.TopK = bases, new(judgedHits)
			req.Copies = cmp.Or(req.Copies, search.CopiesKeep) // each is judged
			r, err := s.Search(ctx, access.Scope{Tenant: tenant}, req)
			if err != nil {
				return fault.Wrap(fault.KindOf(err), err, "query %s of %s by %s", q.ID, set.Name, system.Name)
			}
			figures[i] = Measure(idsOf(r), v.judgments(set, q)).NDCG10
			return nil
		})
	}
	err := group.Wait()
	return mean(figures), err
}

func idsOf(r *search.Response) []string {
	ids := make([]string, len(r.Hits))
	for i := range r.Hits {
		ids[i] = r.Hits[i].ID
	}
	return ids
}

// judgments returns a question's judgments, over all sets of its family that have the passage.
func (v *Several) judgments(set *Set, q *Query) Judgments {
	all := Judgments{}
	for _, other := range v.Sets {
		if other.family() != set.family() {
			continue
		}
		for i := range other.Corpus {
			id := other.Corpus[i].ID
			grade := set.Judgments[q.ID][id]
			if id == q.ID {
				grade = max(grade, 1)
			}
			if grade > 0 {
				all[other.Name+"/"+id] = grade
			}
		}
	}
	return all
}

// WriteTables writes as Markdown a row for each system.
func (v *Several) WriteTables(w io.Writer) error {
	var b strings.Builder
	names := func(sets []*Set) string {
		var list []string
		for _, s := range sets {
			list = append(list, s.Name)
		}
		return strings.Join(list, ", ")
	}
	fmt.Fprintf(&b, "Passages of %s; questions of %s:\n\n", names(v.Sets), names(v.Asked))
	b.WriteString("| system | one knowledge base | each its own | difference | worst |\n|---|---|---|---|---|\n")
	for _, r := range v.Results {
		differences := make([]float64, len(r.One))
		for i := range differences {
			differences[i] = r.Own[i] - r.One[i]
		}
		worst := slices.Min(differences)
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %+.2f | %+.2f %s |\n", r.System, 100*mean(r.One), 100*mean(r.Own),
			100*(mean(r.Own)-mean(r.One)), 100*worst, v.Asked[slices.Index(differences, worst)].Name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
