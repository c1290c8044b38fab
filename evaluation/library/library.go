// Package library keeps what evaluations are made of: query sets and the judgments of their queries, in the records
// of an engine, so that every gateway on the same data has them.
//
// A query set is of some knowledge bases, and whoever sees these sees it and its judgments. A judgment names a chunk,
// or a whole document, and the hash of the text that was judged: it is found again when the same text is ingested
// under another id, and known to be of another text when that has changed.
//
//	library.go     collections in records, ids, outcomes of rows
//	querysets.go   query sets and their queries
//	lists.go       judgment lists
//	judgments.go   the judgments of a list
package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
)

// Limits of what is kept.
const (
	MaxPage      = 1000 // queries or judgments of one call
	maxName      = 256  // bytes of a name, of an id of a query, of a judge
	maxNote      = 1000 // bytes of a note
	maxSetBases  = 16   // knowledge bases of a query set
	MaxQueryID   = 128  // bytes of a query's id
	maxPhrasings = 4    // further ones of a query, as a search takes
)

// Catalog knows which knowledge base is on which engine; *catalog.Catalog is one.
type Catalog interface {
	Get(ctx context.Context, scope access.Scope, id string) (engine.KnowledgeBase, engine.Engine, error)
}

// Library keeps query sets and judgments. It is safe for concurrent use.
type Library struct {
	sets    shelf[setHead, Query]
	lists   shelf[listHead, Judgment]
	keeper  engine.RecordKeeper
	catalog Catalog
	now     func() time.Time
}

// New gives the library that a keeper of records has. The catalog says which texts were judged.
func New(keeper engine.RecordKeeper, catalog Catalog) *Library {
	return &Library{
		sets:    shelf[setHead, Query]{keeper, "query-set", noQuerySet},
		lists:   shelf[listHead, Judgment]{keeper, "judgments", noJudgmentList},
		keeper:  keeper,
		catalog: catalog,
		now:     time.Now,
	}
}

// shelf is the collections of one kind: each has a head H and items I.
type shelf[H, I any] struct {
	keeper engine.RecordKeeper
	kind   string
	absent func(id string) error
}

// held is a collection as it is stored.
type held[H any] struct {
	engine.Records

	head H
}

func (s *shelf[H, I]) ref(tenant, id string) engine.RecordRef {
	return engine.RecordRef{Tenant: tenant, Kind: s.kind, ID: id}
}

func (s *shelf[H, I]) get(ctx context.Context, tenant, id string) (*held[H], error) {
	if err := CheckID("id", id); err != nil { // no such collection was ever made
		return nil, s.absent(id)
	}
	records, err := s.keeper.Records(ctx, s.ref(tenant, id))
	if fault.Is(err, fault.NotFound) {
		return nil, s.absent(id)
	}
	if err != nil {
		return nil, err
	}
	return open[H](records)
}

func open[H any](records engine.Records) (*held[H], error) {
	h := &held[H]{Records: records}
	if err := json.Unmarshal(records.Head, &h.head); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read %s %q", records.Kind, records.ID)
	}
	return h, nil
}

func (s *shelf[H, I]) list(ctx context.Context, tenant string) ([]*held[H], error) {
	records, err := s.keeper.ListRecords(ctx, tenant, s.kind)
	if err != nil {
		return nil, err
	}
	all := make([]*held[H], len(records))
	for i := range records {
		if all[i], err = open[H](records[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// change stores the head that check makes of a collection as it is, nil where there is none. With a base, which is 0
// where there is to be none, it is refused when another version is stored by now; without one it is made of what is
// stored at the moment of saving.
func (s *shelf[H, I]) change(
	ctx context.Context, ref engine.RecordRef, base *int64, check func(now *held[H]) (*H, error),
) (*held[H], error) {
	for {
		now, err := s.get(ctx, ref.Tenant, ref.ID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
		version := int64(0)
		if now != nil {
			version = now.Version
		}
		head, err := check(now)
		if err == nil && base != nil && *base != version {
			err = changed(*base, now)
		}
		if err != nil {
			return nil, err
		}
		saved, err := s.save(ctx, ref, version, head)
		if !isOvertaken(err) || ctx.Err() != nil {
			return saved, err
		}
	}
}

// isOvertaken reports whether somebody else has changed, made or deleted a collection since it was read.
func isOvertaken(err error) bool {
	return fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound)
}

// changed is the conflict of an edit of a version that is not the stored one, which is now.
func changed[H any](base int64, now *held[H]) error {
	conflict := &fault.Error{Kind: fault.Conflict, Field: "base_version"}
	if now == nil {
		conflict.Detail = fmt.Sprintf("base_version is %d and it was deleted; 0 makes it anew", base)
	} else {
		conflict.Detail = fmt.Sprintf("base_version is %d and version %d is stored, since %s; read it and edit that",
			base, now.Version, now.UpdatedAt.Format(time.RFC3339))
	}
	return conflict
}

// save stores a head: version 0 makes the collection.
func (s *shelf[H, I]) save(ctx context.Context, ref engine.RecordRef, version int64, head *H) (*held[H], error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write %s %q", s.kind, ref.ID)
	}
	records, err := s.keeper.SaveRecords(ctx, engine.Records{RecordRef: ref, Version: version, Head: text})
	if err != nil {
		return nil, err
	}
	return &held[H]{Records: records, head: *head}, nil
}

// put stores items by their keys.
func (s *shelf[H, I]) put(ctx context.Context, ref engine.RecordRef, keys []string, items []*I) error {
	records := make([]engine.RecordItem, len(items))
	for i := range items {
		body, err := s.body(ref, items[i])
		if err != nil {
			return err
		}
		records[i] = engine.RecordItem{Key: keys[i], Body: body}
	}
	return engine.PutAllItems(ctx, s.keeper, ref, records)
}

// add stores items whose keys nothing has, and says which.
func (s *shelf[H, I]) add(ctx context.Context, ref engine.RecordRef, keys []string, items []*I) ([]bool, error) {
	changes := make([]engine.ItemChange, len(items))
	for i := range items {
		body, err := s.body(ref, items[i])
		if err != nil {
			return nil, err
		}
		changes[i] = engine.ItemChange{Key: keys[i], To: body}
	}
	return s.keeper.ChangeItems(ctx, ref, changes)
}

func (s *shelf[H, I]) body(ref engine.RecordRef, item *I) (json.RawMessage, error) {
	body, err := json.Marshal(item)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write an item of %s %q", s.kind, ref.ID)
	}
	return body, nil
}

// page gives items and, where there may be more, the key after which they come.
func (s *shelf[H, I]) page(ctx context.Context, ref engine.RecordRef, page engine.ItemPage) ([]I, string, error) {
	records, err := s.keeper.Items(ctx, ref, page)
	if err != nil {
		return nil, "", err
	}
	items := make([]I, len(records))
	for i := range records {
		if err := json.Unmarshal(records[i].Body, &items[i]); err != nil {
			return nil, "", fault.Wrap(fault.Internal, err, "read an item of %s %q", s.kind, ref.ID)
		}
	}
	if len(records) < page.Limit {
		return items, "", nil
	}
	return items, records[len(records)-1].Key, nil
}

// each gives every item to take.
func (s *shelf[H, I]) each(ctx context.Context, ref engine.RecordRef, take func(*I) error) error {
	for record, err := range engine.AllItems(ctx, s.keeper, ref, "") {
		if err != nil {
			return err
		}
		item := new(I)
		if err := json.Unmarshal(record.Body, item); err != nil {
			return fault.Wrap(fault.Internal, err, "read an item of %s %q", s.kind, ref.ID)
		}
		if err := take(item); err != nil {
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

var validID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckID refuses what is no id of a query set, a judgment list or an evaluation.
func CheckID(field, id string) error {
	if !validID.MatchString(id) {
		return fault.Invalid(field, id, "1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit")
	}
	return nil
}

// CheckName refuses what people could not read in a name, which may be empty, of at most so many bytes.
func CheckName(field, name string, most int) error {
	if name == "" {
		return nil
	}
	if err := checkKeyPart(field, name, most); err != nil {
		return err
	}
	return checkText(field, name, most)
}

// checkText refuses what people could not read, or what is too long.
func checkText(field, text string, most int) error {
	if len(text) > most || !utf8.ValidString(text) || engine.ChangesDirection(text) {
		return fault.Invalid(field, text,
			fmt.Sprintf("at most %d bytes of UTF-8 without characters that change the direction of text", most))
	}
	return nil
}

// checkKeyPart refuses what cannot stand in a key.
func checkKeyPart(field, text string, most int) error {
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return fault.Invalid(field, text, fmt.Sprintf("1 to %d bytes of UTF-8 without control characters", most))
	}
	return nil
}

// Outcome says what became of the rows of a call, each by itself.
type Outcome struct {
	Stored int       `json:"stored" minimum:"0"`
	Time   time.Time `json:"time,omitzero" doc:"That judgments got which said none: a deletion that names it deletes nothing newer."`
	Failed []Failed  `json:"failed" nullable:"false" doc:"Rows that were refused; the others are stored."`
	// Replaced are of queries alone.
	Replaced []Replaced `json:"replaced,omitempty" doc:"Queries that had another text before."`
}

// Replaced is a query whose text was replaced.
type Replaced struct {
	Row    int    `json:"row" minimum:"0" doc:"Its place in the call, from 0."`
	ID     string `json:"id"`
	Before string `json:"before" doc:"The text that it had."`
}

// Failed is a row that was refused.
type Failed struct {
	Row    int        `json:"row" minimum:"0" doc:"Its place in the call, from 0."`
	Code   fault.Kind `json:"code"`
	Field  string     `json:"field,omitempty"`
	Detail string     `json:"detail" locale:"text"`
}

// refuse adds a row; an error that is not the row's is given back.
func (o *Outcome) refuse(row int, err error) error {
	kind := fault.KindOf(err)
	if !slices.Contains([]fault.Kind{fault.InvalidArgument, fault.NotFound, fault.TooLarge, fault.Conflict}, kind) {
		return err
	}
	failed := Failed{Row: row, Code: kind, Detail: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		failed.Field, failed.Detail = f.Field, f.Detail
	}
	o.Failed = append(o.Failed, failed)
	return nil
}

// checkRows refuses a call without rows, or with too many.
func checkRows(field string, n int) error {
	if n < 1 || n > MaxPage {
		return fault.Invalid(field, fault.Length(n), fmt.Sprintf("1 to %d of them", MaxPage))
	}
	return nil
}

// at names the member of the request that an error is about.
func at(field string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	return &fault.Error{Kind: f.Kind, Field: field, Detail: f.Detail, Err: f.Err}
}

// called says of an error of the records, by their name of a member, what the request calls it.
func called(err error, ours, theirs string) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	rest, is := strings.CutPrefix(f.Field, ours)
	if !is {
		return err
	}
	return f.Called(theirs + rest)
}

func noQuerySet(id string) error { return fault.New(fault.NotFound, "query set %q does not exist", id) }

func noJudgmentList(id string) error {
	return fault.New(fault.NotFound, "judgment list %q does not exist", id)
}
