package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/filter"
	"github.com/hybridge-search/hybridge/search"
)

// QuerySetSpec makes or changes a query set.
type QuerySetSpec struct {
	Name           string   `json:"name,omitempty" doc:"For people; the default is the id. At most 256 bytes."`
	Note           string   `json:"note,omitempty" doc:"At most 1000 bytes."`
	KnowledgeBases []string `json:"knowledge_bases" minItems:"1" maxItems:"16" doc:"What its queries are asked of, and who sees it: whoever sees all of these."`
}

// QuerySet is a set of queries. It is kept when a knowledge base of it is deleted.
type QuerySet struct {
	ID string `json:"id"`
	QuerySetSpec

	Version   int64     `json:"version" doc:"That an edit is based on; it grows with each."`
	Queries   int       `json:"queries" minimum:"0" doc:"How many it has."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at" doc:"When it was made or changed, its queries apart."`
}

// Query is one of a set.
type Query struct {
	ID      string   `json:"id" doc:"Its name within the set, at most 128 bytes."`
	Text    string   `json:"text" doc:"What is asked."`
	Queries []string `json:"queries,omitempty" maxItems:"4" doc:"Further wordings, which a search takes too."`
	// Filter is the search's own.
	Filter       filter.Expression `json:"filter,omitempty" doc:"As that of a search; a system's own filter is added."`
	Unanswerable bool              `json:"unanswerable,omitempty" doc:"Nothing answers it, so that an answer without hits is right."`
	Note         string            `json:"note,omitempty" doc:"At most 1000 bytes."`
}

// setHead is the stored head of a set.
type setHead struct{ QuerySetSpec }

func (q *QuerySetSpec) check(id string) error {
	q.Name = cmp.Or(q.Name, id)
	if err := checkText("name", q.Name, maxName); err != nil {
		return err
	}
	if err := checkText("note", q.Note, maxNote); err != nil {
		return err
	}
	if n := len(q.KnowledgeBases); n < 1 || n > maxSetBases {
		return fault.Invalid("knowledge_bases", fault.Length(n), fmt.Sprintf("1 to %d knowledge bases", maxSetBases))
	}
	for i, kb := range q.KnowledgeBases {
		if slices.Contains(q.KnowledgeBases[:i], kb) {
			return fault.Invalid("knowledge_bases", kb, "knowledge bases named once")
		}
	}
	return nil
}

// sees reports whether a caller sees all knowledge bases.
func sees(scope access.Scope, bases []string) bool {
	return !slices.ContainsFunc(bases, func(kb string) bool { return !scope.Allows(kb) })
}

// set gives a set that the caller sees; fault.NotFound.
func (l *Library) set(ctx context.Context, scope access.Scope, id string) (*held[setHead], error) {
	set, err := l.sets.get(ctx, scope.Tenant, id)
	if err == nil && !sees(scope, set.head.KnowledgeBases) {
		return nil, noQuerySet(id)
	}
	return set, err
}

func (l *Library) described(ctx context.Context, set *held[setHead]) (QuerySet, error) {
	n, err := l.keeper.CountItems(ctx, set.RecordRef)
	return QuerySet{
		ID: set.ID, QuerySetSpec: set.head.QuerySetSpec, Version: set.Version, Queries: n,
		CreatedAt: set.CreatedAt, UpdatedAt: set.UpdatedAt,
	}, err
}

// QuerySets lists those that the caller sees, by their ids.
func (l *Library) QuerySets(ctx context.Context, scope access.Scope) ([]QuerySet, error) {
	all, err := l.sets.list(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	seen := []QuerySet{}
	for _, set := range all {
		if !sees(scope, set.head.KnowledgeBases) {
			continue
		}
		described, err := l.described(ctx, set)
		if err != nil && !fault.Is(err, fault.NotFound) { // deleted meanwhile
			return nil, err
		}
		if err == nil {
			seen = append(seen, described)
		}
	}
	return seen, nil
}

// QuerySet gives one; fault.NotFound.
func (l *Library) QuerySet(ctx context.Context, scope access.Scope, id string) (*QuerySet, error) {
	set, err := l.set(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	described, err := l.described(ctx, set)
	return &described, err
}

// SaveQuerySet makes a set, or changes what one is called and is of; its queries stay. Every knowledge base must
// be there. A base is the version that was edited, 0 where there was none; fault.Conflict when another is stored.
func (l *Library) SaveQuerySet(
	ctx context.Context, scope access.Scope, id string, spec QuerySetSpec, base *int64,
) (*QuerySet, error) {
	if err := CheckID("id", id); err != nil {
		return nil, err
	}
	if err := spec.check(id); err != nil {
		return nil, err
	}
	for _, kb := range spec.KnowledgeBases {
		if _, _, err := l.catalog.Get(ctx, scope, kb); err != nil {
			return nil, at("knowledge_bases", err)
		}
	}
	set, err := l.sets.change(ctx, l.sets.ref(scope.Tenant, id), base, func(now *held[setHead]) (*setHead, error) {
		if now != nil && !sees(scope, now.head.KnowledgeBases) {
			return nil, fault.New(fault.Conflict, "query set %q exists, of knowledge bases that this key does not see", id)
		}
		return &setHead{spec}, nil
	})
	if err != nil {
		return nil, err
	}
	described, err := l.described(ctx, set)
	return &described, err
}

// DeleteQuerySet deletes a set with its queries and judgments.
func (l *Library) DeleteQuerySet(ctx context.Context, scope access.Scope, id string) error {
	set, err := l.set(ctx, scope, id)
	if err != nil {
		return err
	}
	if err := l.deleteListsOf(ctx, scope.Tenant, id); err != nil {
		return err
	}
	if err := l.keeper.DeleteRecords(ctx, set.RecordRef); err != nil {
		return err
	}
	return l.deleteListsOf(ctx, scope.Tenant, id) // those that were made meanwhile
}

func (l *Library) deleteListsOf(ctx context.Context, tenant, set string) error {
	lists, err := l.lists.list(ctx, tenant)
	if err != nil {
		return err
	}
	for _, list := range lists {
		if list.head.QuerySet != set {
			continue
		}
		if err := l.keeper.DeleteRecords(ctx, list.RecordRef); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// Queries gives at most limit queries of a set in the order of their ids, those after one; next is the id to go on
// after, empty where there are no more.
func (l *Library) Queries(
	ctx context.Context, scope access.Scope, id, after string, limit int,
) (queries []Query, next string, err error) {
	set, err := l.set(ctx, scope, id)
	if err != nil {
		return nil, "", err
	}
	return l.sets.page(ctx, set.RecordRef, engine.ItemPage{After: after, Limit: limit})
}

// EachQuery gives every query of a set to take, by their ids.
func (l *Library) EachQuery(ctx context.Context, scope access.Scope, id string, take func(*Query) error) error {
	set, err := l.set(ctx, scope, id)
	if err != nil {
		return err
	}
	return l.sets.each(ctx, set.RecordRef, take)
}

// PutQueries stores queries, in place of those of the same ids. The text of one that has judgments changes only with
// replace: they would count for another question.
func (l *Library) PutQueries(
	ctx context.Context, scope access.Scope, id string, queries []Query, replace bool,
) (*Outcome, error) {
	if err := checkRows("queries", len(queries)); err != nil {
		return nil, err
	}
	set, err := l.set(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	w := &queryWriter{outcome: &Outcome{Failed: []Failed{}}, seen: map[string]bool{}, replace: replace}
	if w.there, err = l.queriesOf(ctx, set.RecordRef, queries); err != nil {
		return nil, err
	}
	if !replace {
		if w.judged, err = l.judgedOf(ctx, scope, id, w.changed(queries)); err != nil {
			return nil, err
		}
	}
	for i := range queries {
		if err := w.take(i, &queries[i]); err != nil {
			return nil, err
		}
	}
	if len(w.rows) > 0 {
		if err := l.sets.put(ctx, set.RecordRef, w.keys, w.rows); err != nil {
			return nil, err
		}
	}
	w.outcome.Stored = len(w.rows)
	return w.outcome, nil
}

// queryWriter checks the queries of one call.
type queryWriter struct {
	there   map[string]*Query
	judged  map[string]string // a list with judgments, by query
	replace bool

	outcome *Outcome
	seen    map[string]bool
	keys    []string
	rows    []*Query
}

// changed are the ids of queries whose text would change.
func (w *queryWriter) changed(queries []Query) (ids []string) {
	for i := range queries {
		if before := w.there[queries[i].ID]; before != nil && before.Text != queries[i].Text {
			ids = append(ids, before.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (w *queryWriter) take(i int, q *Query) error {
	err := q.check()
	if err == nil && w.seen[q.ID] {
		err = fault.Invalid("id", q.ID, "there once in a call")
	}
	before := w.there[q.ID]
	changes := before != nil && before.Text != q.Text
	if list, judged := w.judged[q.ID]; err == nil && changes && judged {
		err = &fault.Error{Kind: fault.Conflict, Field: "text", Detail: fmt.Sprintf(
			"query %q is %q and has judgments in list %q, which would count for another question; replace takes the new text",
			q.ID, shortened(before.Text), list)}
	}
	if err != nil {
		return w.outcome.refuse(i, err)
	}
	if changes {
		w.outcome.Replaced = append(w.outcome.Replaced, Replaced{Row: i, ID: q.ID, Before: before.Text})
	}
	w.seen[q.ID] = true
	w.keys, w.rows = append(w.keys, q.ID), append(w.rows, q)
	return nil
}

// shownText limits the letters of a text in an error.
const shownText = 80

func shortened(text string) string {
	letters := []rune(text)
	if len(letters) <= shownText {
		return text
	}
	return string(letters[:shownText]) + "…"
}

// queriesOf returns the stored queries among some, by id.
func (l *Library) queriesOf(ctx context.Context, set engine.RecordRef, some []Query) (map[string]*Query, error) {
	ids := make([]string, len(some))
	for i := range some {
		ids[i] = some[i].ID
	}
	there := map[string]*Query{}
	err := l.items(ctx, set, ids, func(item *engine.RecordItem) error {
		q := &Query{}
		if err := json.Unmarshal(item.Body, q); err != nil {
			return fault.Wrap(fault.Internal, err, "read a query of %q", set.ID)
		}
		there[q.ID] = q
		return nil
	})
	return there, err
}

// judgedOf gives for each query that has judgments one of the lists that have them.
func (l *Library) judgedOf(
	ctx context.Context, scope access.Scope, set string, queries []string,
) (map[string]string, error) {
	judged := map[string]string{}
	if len(queries) == 0 {
		return judged, nil
	}
	lists, err := l.lists.list(ctx, scope.Tenant)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		if list.head.QuerySet != set {
			continue
		}
		err := l.judgedIn(ctx, list, queries, judged)
		if err != nil && !fault.Is(err, fault.NotFound) { // deleted meanwhile
			return nil, err
		}
	}
	return judged, nil
}

// judgedIn notes which of some queries a list has judgments of.
func (l *Library) judgedIn(
	ctx context.Context, list *held[listHead], queries []string, judged map[string]string,
) error {
	if len(queries) > fewItems {
		between := engine.RecordKey("", "")
		for item, err := range engine.AllItems(ctx, l.keeper, list.RecordRef, "") {
			if err != nil {
				return err
			}
			query, _, _ := strings.Cut(item.Key, between)
			judged[query] = list.ID
		}
		return nil
	}
	for _, query := range queries {
		page := engine.ItemPage{Prefix: engine.RecordKey(query, ""), Limit: 1}
		items, err := l.keeper.Items(ctx, list.RecordRef, page)
		if err != nil {
			return err
		}
		if len(items) > 0 {
			judged[query] = list.ID
		}
	}
	return nil
}

// check refuses a query that no search would take.
func (q *Query) check() error {
	if err := checkKeyPart("id", q.ID, MaxQueryID); err != nil {
		return err
	}
	if len(q.Queries) > maxPhrasings {
		return fault.Invalid("queries", fault.Length(len(q.Queries)),
			fmt.Sprintf("at most %d further wordings", maxPhrasings))
	}
	if err := checkText("note", q.Note, maxNote); err != nil {
		return err
	}
	// The rest is a search's own.
	request := search.Request{Query: q.Text, Queries: q.Queries, Filter: q.Filter, KnowledgeBases: []string{"any"}}
	err := request.Validate()
	var f *fault.Error
	if errors.As(err, &f) && f.Field == "query" {
		return f.Called("text")
	}
	return err
}

// DeleteQueries deletes queries; their judgments stay. It gives how many of the ids there were.
func (l *Library) DeleteQueries(ctx context.Context, scope access.Scope, id string, queries []string) (int, error) {
	if err := checkRows("ids", len(queries)); err != nil {
		return 0, err
	}
	set, err := l.set(ctx, scope, id)
	if err != nil {
		return 0, err
	}
	n, err := l.keeper.DeleteItems(ctx, set.RecordRef, queries)
	return n, called(err, "keys", "ids")
}
