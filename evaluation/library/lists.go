package library

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/fault"
)

// Source names the kind of judge of a list; a list has one source.
type Source string

// The sources of grades.
const (
	People Source = "people"
	Model  Source = "model"
	Clicks Source = "clicks"
)

// JudgmentListSpec makes a judgment list.
type JudgmentListSpec struct {
	QuerySet string `json:"query_set" doc:"Whose queries are judged."`
	Name     string `json:"name,omitempty" doc:"For people; the default is the id. At most 256 bytes."`
	Note     string `json:"note,omitempty" doc:"At most 1000 bytes."`
	MaxGrade int    `json:"max_grade,omitempty" minimum:"1" maximum:"10" doc:"The highest grade; the default is 3. 0 is not relevant."`
	Source   Source `json:"source,omitempty" enum:"people,model,clicks" doc:"Who gives the grades; the default is people."`
}

// JudgmentList is the judgments of a query set's queries by one kind of judge.
type JudgmentList struct {
	ID string `json:"id"`
	JudgmentListSpec

	Version   int64     `json:"version" doc:"That an edit is based on; it grows with each, and not with judgments."`
	Judgments int       `json:"judgments" minimum:"0" doc:"How many it has."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at" doc:"When it was made or changed, its judgments apart."`
}

// listHead is the stored head of a list.
type listHead struct{ JudgmentListSpec }

// list gives a list and its query set, which the caller sees.
func (l *Library) list(ctx context.Context, scope access.Scope, id string) (*held[listHead], *held[setHead], error) {
	list, err := l.lists.get(ctx, scope.Tenant, id)
	if err != nil {
		return nil, nil, err
	}
	set, err := l.set(ctx, scope, list.head.QuerySet)
	if fault.Is(err, fault.NotFound) {
		err = noJudgmentList(id)
	}
	return list, set, err
}

func (l *Library) describedList(ctx context.Context, list *held[listHead]) (JudgmentList, error) {
	n, err := l.keeper.CountItems(ctx, list.RecordRef)
	return JudgmentList{
		ID: list.ID, JudgmentListSpec: list.head.JudgmentListSpec, Version: list.Version, Judgments: n,
		CreatedAt: list.CreatedAt, UpdatedAt: list.UpdatedAt,
	}, err
}

// JudgmentLists lists those that the caller sees, by their ids; of one query set where one is named.
func (l *Library) JudgmentLists(ctx context.Context, scope access.Scope, set string) ([]JudgmentList, error) {
	sets, err := l.sets.list(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	visible := map[string]bool{}
	for _, s := range sets {
		visible[s.ID] = sees(scope, s.head.KnowledgeBases) && (set == "" || s.ID == set)
	}
	all, err := l.lists.list(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	seen := []JudgmentList{}
	for _, list := range all {
		if !visible[list.head.QuerySet] {
			continue
		}
		described, err := l.describedList(ctx, list)
		if err != nil && !fault.Is(err, fault.NotFound) { // deleted meanwhile
			return nil, err
		}
		if err == nil {
			seen = append(seen, described)
		}
	}
	return seen, nil
}

// JudgmentList gives one; fault.NotFound.
func (l *Library) JudgmentList(ctx context.Context, scope access.Scope, id string) (*JudgmentList, error) {
	list, _, err := l.list(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	described, err := l.describedList(ctx, list)
	return &described, err
}

// SaveJudgmentList makes a list, or changes its name and note; what its grades mean does not change. A base is the
// version that was edited, 0 where there was none; fault.Conflict when another is stored by now.
func (l *Library) SaveJudgmentList(
	ctx context.Context, scope access.Scope, id string, spec JudgmentListSpec, base *int64,
) (*JudgmentList, error) {
	if err := CheckID("id", id); err != nil {
		return nil, err
	}
	spec.Name, spec.MaxGrade = cmp.Or(spec.Name, id), cmp.Or(spec.MaxGrade, defaultGrade)
	spec.Source = cmp.Or(spec.Source, People)
	if err := spec.check(); err != nil {
		return nil, err
	}
	if _, err := l.set(ctx, scope, spec.QuerySet); err != nil {
		return nil, at("query_set", err)
	}
	saved, err := l.lists.change(ctx, l.lists.ref(scope.Tenant, id), base, func(now *held[listHead]) (*listHead, error) {
		return &listHead{spec}, spec.checkKept(id, now)
	})
	if err != nil {
		return nil, err
	}
	// Who deletes the set looks for lists once more after it is gone, so one of the two sees the other.
	if _, err := l.set(ctx, scope, spec.QuerySet); fault.Is(err, fault.NotFound) {
		if err := l.keeper.DeleteRecords(ctx, saved.RecordRef); err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
		return nil, at("query_set", err)
	}
	described, err := l.describedList(ctx, saved)
	return &described, err
}

// checkKept refuses to change what the grades of a list that is there mean.
func (j *JudgmentListSpec) checkKept(id string, now *held[listHead]) error {
	switch {
	case now == nil:
		return nil
	case now.head.QuerySet != j.QuerySet:
		return fault.New(fault.Conflict, "judgment list %q exists, of query set %q", id, now.head.QuerySet)
	case now.head.MaxGrade != j.MaxGrade:
		return fault.Invalid("max_grade", j.MaxGrade, fmt.Sprintf("%d, as the list was made", now.head.MaxGrade))
	case now.head.Source != j.Source:
		return fault.Invalid("source", j.Source, fmt.Sprintf("%s, as the list was made", now.head.Source))
	default:
		return nil
	}
}

func (j *JudgmentListSpec) check() error {
	if err := checkText("name", j.Name, maxName); err != nil {
		return err
	}
	if err := checkText("note", j.Note, maxNote); err != nil {
		return err
	}
	if j.MaxGrade < 1 || j.MaxGrade > MaxGrade {
		return fault.Invalid("max_grade", j.MaxGrade, fmt.Sprintf("a whole number from 1 to %d", MaxGrade))
	}
	if !slices.Contains([]Source{People, Model, Clicks}, j.Source) {
		return fault.Invalid("source", j.Source, "people, model or clicks")
	}
	return nil
}

// DeleteJudgmentList deletes a list with its judgments.
func (l *Library) DeleteJudgmentList(ctx context.Context, scope access.Scope, id string) error {
	list, _, err := l.list(ctx, scope, id)
	if err != nil {
		return err
	}
	return l.keeper.DeleteRecords(ctx, list.RecordRef)
}
