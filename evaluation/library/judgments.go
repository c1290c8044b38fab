package library

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Limits of judgments.
const (
	MaxGrade     = 10 // of a list
	defaultGrade = 3
	maxChunkID   = 256 // bytes
)

// Source is who gave the grades of a list. Those of different sources are never in one list.
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

// Judgment is the grade of a chunk, or of a whole document, for a query.
type Judgment struct {
	QueryID       string    `json:"query_id"`
	KnowledgeBase string    `json:"knowledge_base,omitempty" doc:"May be left out where the query set has one."`
	DocumentID    string    `json:"document_id,omitempty" doc:"Judged as a whole where no chunk is named."`
	ChunkID       string    `json:"chunk_id,omitempty"`
	Hash          string    `json:"hash,omitempty" doc:"Of the text that was judged; the gateway adds it to a chunk's."`
	Grade         int       `json:"grade" minimum:"0" maximum:"10" doc:"0: not relevant; at most max_grade of the list."`
	Judge         string    `json:"judge,omitempty" doc:"Who judged; the default is the name of the key. At most 256 bytes."`
	Time          time.Time `json:"time,omitzero" doc:"When; the default is now."`
	Note          string    `json:"note,omitempty" doc:"At most 1000 bytes."`
}

// listHead is the stored head of a list.
type listHead struct{ JudgmentListSpec }

// HashOf hashes the text of a chunk, for a judgment to store.
func HashOf(title, content string) string {
	sum := sha256.Sum256([]byte(title + "\n" + content))
	return hex.EncodeToString(sum[:16])
}

// key is the key of an item: one grade for each chunk, or document, of a query.
func (j *Judgment) key() string {
	if j.ChunkID == "" {
		return engine.RecordKey(j.QueryID, j.KnowledgeBase, "document", j.DocumentID)
	}
	return engine.RecordKey(j.QueryID, j.KnowledgeBase, "chunk", j.ChunkID)
}

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

// JudgmentPage asks for judgments of a list: at most Limit, of one query where one is named, and those after Next
// of the page before.
type JudgmentPage struct {
	Query, After string
	Limit        int
}

// Judgments gives a page in the order of queries; next goes on, empty where there are no more.
func (l *Library) Judgments(
	ctx context.Context, scope access.Scope, id string, page JudgmentPage,
) (judgments []Judgment, next string, err error) {
	list, _, err := l.list(ctx, scope, id)
	if err != nil {
		return nil, "", err
	}
	items := engine.ItemPage{After: page.After, Limit: page.Limit}
	if page.Query != "" {
		items.Prefix = engine.RecordKey(page.Query, "")
	}
	judgments, next, err = l.lists.page(ctx, list.RecordRef, items)
	return judgments, next, called(err, "prefix", "query")
}

// EachJudgment gives every judgment of a list to take, in the order of queries.
func (l *Library) EachJudgment(ctx context.Context, scope access.Scope, id string, take func(*Judgment) error) error {
	list, _, err := l.list(ctx, scope, id)
	if err != nil {
		return err
	}
	return l.lists.each(ctx, list.RecordRef, take)
}

// DeleteJudgments deletes judgments by what they are of; it gives how many there were. One with a time is deleted if it
// still is the judgment of that time.
func (l *Library) DeleteJudgments(ctx context.Context, scope access.Scope, id string, of []Judgment) (int, error) {
	if err := checkRows("judgments", len(of)); err != nil {
		return 0, err
	}
	list, set, err := l.list(ctx, scope, id)
	if err != nil {
		return 0, err
	}
	var keys []string
	var seen []*Judgment
	for i := range of {
		if len(set.head.KnowledgeBases) == 1 {
			of[i].KnowledgeBase = cmp.Or(of[i].KnowledgeBase, set.head.KnowledgeBases[0])
		}
		if of[i].Time.IsZero() {
			keys = append(keys, of[i].key())
		} else {
			seen = append(seen, &of[i])
		}
	}
	n, err := l.keeper.DeleteItems(ctx, list.RecordRef, keys)
	if err != nil || len(seen) == 0 {
		return n, called(err, "keys", "judgments")
	}
	more, err := l.deleteSeen(ctx, list.RecordRef, seen)
	return n + more, err
}

// deleteSeen deletes judgments that are of their time still.
func (l *Library) deleteSeen(ctx context.Context, list engine.RecordRef, seen []*Judgment) (n int, err error) {
	var changes []engine.ItemChange
	named := map[string]bool{}
	for _, j := range seen {
		item, now, err := l.judgment(ctx, list, j.key())
		if err != nil {
			return 0, err
		}
		if now != nil && now.Time.Equal(j.Time) && !named[item.Key] {
			named[item.Key] = true
			changes = append(changes, engine.ItemChange{Key: item.Key, From: item.Body})
		}
	}
	made, err := l.keeper.ChangeItems(ctx, list, changes)
	for _, was := range made {
		if was {
			n++
		}
	}
	return n, err
}

// judgment gives that of a key; nil where there is none.
func (l *Library) judgment(
	ctx context.Context, list engine.RecordRef, key string,
) (engine.RecordItem, *Judgment, error) {
	items, err := l.keeper.Items(ctx, list, engine.ItemPage{Prefix: key, Limit: 1})
	if err != nil || len(items) == 0 || items[0].Key != key {
		return engine.RecordItem{}, nil, err
	}
	j := &Judgment{}
	if err := json.Unmarshal(items[0].Body, j); err != nil {
		return items[0], nil, fault.Wrap(fault.Internal, err, "read a judgment of list %q", list.ID)
	}
	return items[0], j, nil
}

// PutJudgments stores judgments, in place of those of the same query and chunk. A judgment of a chunk without a hash
// gets that of the chunk's text, which must be there. With onlyNew nothing takes the place of another: rows that are
// judged already are refused, each by itself.
func (l *Library) PutJudgments(
	ctx context.Context, scope access.Scope, id string, judgments []Judgment, onlyNew bool,
) (*Outcome, error) {
	if err := checkRows("judgments", len(judgments)); err != nil {
		return nil, err
	}
	list, set, err := l.list(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	w := &judgmentWriter{
		library: l, list: list, set: set, now: l.now().UTC().Truncate(time.Millisecond),
		outcome: &Outcome{Failed: []Failed{}}, seen: map[string]bool{},
	}
	if w.queries, err = l.known(ctx, set.RecordRef, judgments); err != nil {
		return nil, err
	}
	if w.chunks, err = l.texts(ctx, scope, set, judgments); err != nil {
		return nil, err
	}
	for i := range judgments {
		if err := w.take(i, &judgments[i], scope.Key); err != nil {
			return nil, err
		}
	}
	w.outcome.Time = w.now
	if len(w.rows) == 0 {
		return w.outcome, nil
	}
	if onlyNew {
		return w.outcome, w.add(ctx)
	}
	w.outcome.Stored = len(w.rows)
	return w.outcome, l.lists.put(ctx, list.RecordRef, w.keys, w.rows)
}

// mostNamed are the refused rows whose judges are named: each is looked up by itself.
const mostNamed = 20

// add stores the rows that nobody has judged.
func (w *judgmentWriter) add(ctx context.Context) error {
	made, err := w.library.lists.add(ctx, w.list.RecordRef, w.keys, w.rows)
	if err != nil {
		return err
	}
	for i := range made {
		if made[i] {
			w.outcome.Stored++
			continue
		}
		there := fault.New(fault.Conflict, "it is judged already")
		if len(w.outcome.Failed) < mostNamed {
			if _, now, err := w.library.judgment(ctx, w.list.RecordRef, w.keys[i]); err != nil {
				return err
			} else if now != nil {
				there = fault.New(fault.Conflict, "it is judged already: grade %d by %s at %s", now.Grade, now.Judge,
					now.Time.Format(time.RFC3339))
			}
		}
		if err := w.outcome.refuse(w.places[i], there); err != nil {
			return err
		}
	}
	return nil
}

// fewItems are looked up each by itself; of more the whole collection is read, which takes fewer requests.
const fewItems = 10

// items gives those of some keys that a collection has to take.
func (l *Library) items(
	ctx context.Context, of engine.RecordRef, keys []string, take func(*engine.RecordItem) error,
) error {
	wanted := map[string]bool{}
	for _, key := range keys {
		if checkKeyPart("id", key, MaxQueryID) == nil {
			wanted[key] = true
		}
	}
	if len(wanted) > fewItems {
		for item, err := range engine.AllItems(ctx, l.keeper, of, "") {
			if err == nil && wanted[item.Key] {
				err = take(&item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for key := range wanted {
		items, err := l.keeper.Items(ctx, of, engine.ItemPage{Prefix: key, Limit: 1})
		if err == nil && len(items) > 0 && items[0].Key == key {
			err = take(&items[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// known returns the judgments' queries that exist in the set.
func (l *Library) known(ctx context.Context, set engine.RecordRef, judgments []Judgment) (map[string]bool, error) {
	ids := make([]string, len(judgments))
	for i := range judgments {
		ids[i] = judgments[i].QueryID
	}
	known := map[string]bool{}
	err := l.items(ctx, set, ids, func(item *engine.RecordItem) error {
		known[item.Key] = true
		return nil
	})
	return known, err
}

// texts are the chunks that judgments without a hash name, by knowledge base and id.
func (l *Library) texts(
	ctx context.Context, scope access.Scope, set *held[setHead], judgments []Judgment,
) (map[[2]string]*engine.Chunk, error) {
	wanted := map[string][]string{}
	for i := range judgments {
		j := &judgments[i]
		if len(set.head.KnowledgeBases) == 1 {
			j.KnowledgeBase = cmp.Or(j.KnowledgeBase, set.head.KnowledgeBases[0])
		}
		if j.ChunkID != "" && j.Hash == "" && slices.Contains(set.head.KnowledgeBases, j.KnowledgeBase) &&
			checkKeyPart("chunk_id", j.ChunkID, maxChunkID) == nil {
			wanted[j.KnowledgeBase] = append(wanted[j.KnowledgeBase], j.ChunkID)
		}
	}
	found := map[[2]string]*engine.Chunk{}
	for kb, ids := range wanted {
		base, e, err := l.catalog.Get(ctx, scope, kb)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		slices.Sort(ids)
		chunks, err := e.Chunks(ctx, engine.ChunksRequest{KB: base, IDs: slices.Compact(ids), Hidden: true})
		if err != nil {
			return nil, err
		}
		for i := range chunks {
			found[[2]string{kb, chunks[i].ID}] = &chunks[i]
		}
	}
	return found, nil
}

// judgmentWriter checks the judgments of one call.
type judgmentWriter struct {
	library *Library
	list    *held[listHead]
	set     *held[setHead]
	queries map[string]bool
	chunks  map[[2]string]*engine.Chunk
	now     time.Time

	outcome *Outcome
	seen    map[string]bool
	keys    []string
	rows    []*Judgment
	places  []int // of the rows in the call
}

func (w *judgmentWriter) take(i int, j *Judgment, by string) error {
	if err := w.complete(j, by); err != nil {
		return w.outcome.refuse(i, err)
	}
	key := j.key()
	if w.seen[key] {
		return w.outcome.refuse(i, fault.New(fault.InvalidArgument,
			"the call has another judgment of the same query and chunk"))
	}
	w.seen[key] = true
	w.keys, w.rows, w.places = append(w.keys, key), append(w.rows, j), append(w.places, i)
	return nil
}

// complete checks a judgment and adds what it leaves out.
func (w *judgmentWriter) complete(j *Judgment, by string) error {
	if err := checkKeyPart("query_id", j.QueryID, MaxQueryID); err != nil {
		return err
	}
	if !w.queries[j.QueryID] {
		return &fault.Error{
			Kind: fault.NotFound, Field: "query_id",
			Detail: fmt.Sprintf("query set %q has no query %q", w.set.ID, j.QueryID),
		}
	}
	if bases := w.set.head.KnowledgeBases; !slices.Contains(bases, j.KnowledgeBase) {
		return fault.Invalid("knowledge_base", j.KnowledgeBase, "one of the query set's: "+strings.Join(bases, ", "))
	}
	if most := w.list.head.MaxGrade; j.Grade < 0 || j.Grade > most {
		return fault.Invalid("grade", j.Grade, fmt.Sprintf("a whole number from 0 to %d, the max_grade of the list", most))
	}
	j.Judge = cmp.Or(j.Judge, by)
	if err := checkText("judge", j.Judge, maxName); err != nil {
		return err
	}
	if err := checkText("note", j.Note, maxNote); err != nil {
		return err
	}
	if j.Time.After(w.now.Add(time.Hour)) { // clocks differ a little
		return fault.Invalid("time", j.Time.Format(time.RFC3339), "a time that has been")
	}
	if j.Time.IsZero() {
		j.Time = w.now
	}
	return w.completeText(j)
}

// completeText checks what was judged.
func (w *judgmentWriter) completeText(j *Judgment) error {
	if j.DocumentID != "" || j.ChunkID == "" {
		if err := checkKeyPart("document_id", j.DocumentID, maxChunkID); err != nil {
			return err
		}
	}
	if j.ChunkID == "" {
		return nil
	}
	if err := checkKeyPart("chunk_id", j.ChunkID, maxChunkID); err != nil {
		return err
	}
	if err := checkText("hash", j.Hash, maxName); err != nil || j.Hash != "" {
		return err
	}
	chunk := w.chunks[[2]string{j.KnowledgeBase, j.ChunkID}]
	if chunk == nil || j.DocumentID != "" && chunk.DocumentID != j.DocumentID {
		return &fault.Error{
			Kind: fault.NotFound, Field: "chunk_id",
			Detail: fmt.Sprintf("knowledge base %q has no such chunk of such a document: %q", j.KnowledgeBase, j.ChunkID),
		}
	}
	j.DocumentID, j.Hash = chunk.DocumentID, HashOf(TextOf(chunk))
	return nil
}

// TextOf is the title and the text of a chunk, of a pair its question and answer.
func TextOf(c *engine.Chunk) (title, content string) {
	if c.QA != nil {
		return c.Question, c.Answer
	}
	return c.Title, c.Content
}

// checkKeyPart refuses what cannot stand in a key.
func checkKeyPart(field, text string, most int) error {
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return fault.Invalid(field, text, fmt.Sprintf("1 to %d bytes of UTF-8 without control characters", most))
	}
	return nil
}
