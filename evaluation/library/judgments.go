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
