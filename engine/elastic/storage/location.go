package storage

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// Location is where a knowledge base is stored: checked against the live index, and with
// the filters that every request to it carries. It is immutable.
type Location struct {
	KB      engine.KnowledgeBase
	Index   string // to read
	alias   string // to write
	Routing string
	Names   *mappings.Names
	Own     []esquery.Query // tenant and knowledge base
	stale   bool            // the tokens were made by another tokenizer
	Moments bool            // the documents have the moments of their times
	// Moved: a migration that the caller does not know of has ended. What the caller asks
	// for may be in other fields by now.
	Moved bool
}

// OwnLocation returns the location of a knowledge base that is not attached, unchecked.
func (s *Store) OwnLocation(kb *engine.KnowledgeBase) *Location {
	return &Location{
		KB: *kb, Index: s.Index(kb), alias: s.WriteAlias(kb), Routing: routingOf(kb), Names: mappings.Own(kb),
		Own: []esquery.Query{
			esquery.Term{Field: mappings.FieldTenant, Value: kb.Tenant},
			esquery.Term{Field: mappings.FieldKB, Value: kb.ID},
		},
	}
}

// Locate finds and checks the index of a knowledge base.
func (s *Store) Locate(ctx context.Context, kb *engine.KnowledgeBase) (*Location, error) {
	if loc, ok := s.recent.location(kb); ok {
		return loc, nil
	}
	loc, err := s.resolve(ctx, kb)
	if err == nil {
		s.recent.rememberLocation(kb, loc)
	}
	return loc, err
}

// OnIndex reads from where a knowledge base is stored, and once more from where it is by
// then, if that has gone since it was found.
func OnIndex[T any](
	ctx context.Context, s *Store, kb *engine.KnowledgeBase, read func(loc *Location) (T, error),
) (T, error) {
	var none T
	loc, err := s.Locate(ctx, kb)
	if err != nil {
		return none, err
	}
	answer, err := read(loc)
	if !missing(err) {
		return answer, err
	}
	s.recent.forgetLocation(kb)
	again, lost := s.Locate(ctx, kb)
	if lost != nil {
		return none, lost
	}
	return read(again)
}

// missing reports whether an index does not exist.
func missing(err error) bool {
	why, refused := errors.AsType[*rest.Refusal](err)
	return refused && why.Has("index_not_found_exception")
}

// same compares every member of two knowledge bases.
func same(a, b *engine.KnowledgeBase) bool {
	return a.Ref == b.Ref && a.Name == b.Name && a.Engine == b.Engine && slices.Equal(a.Engines, b.Engines) &&
		a.Kind == b.Kind && a.Dimensions == b.Dimensions && a.EmbeddingModel == b.EmbeddingModel &&
		a.KeywordOnly == b.KeywordOnly && a.Analyzer == b.Analyzer && a.SearchAnalyzer == b.SearchAnalyzer &&
		a.Shared == b.Shared && sameAttachment(a.Attach, b.Attach) &&
		a.CreatedAt.Equal(b.CreatedAt) && a.BM25 == b.BM25 && a.VectorIndex == b.VectorIndex &&
		slices.Equal(a.VectorFields, b.VectorFields) && maps.Equal(a.Boosts, b.Boosts) && a.Generation == b.Generation
}

func sameAttachment(a, b *engine.Attachment) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Index == b.Index && a.Layout == b.Layout && a.Value == b.Value && maps.Equal(a.Fields, b.Fields)
}

func (s *Store) resolve(ctx context.Context, kb *engine.KnowledgeBase) (*Location, error) {
	if err := s.readable(ctx); err != nil {
		return nil, err
	}
	if kb.Attach != nil {
		return s.attached(ctx, kb)
	}
	if kb.Shared { // the index does not tell which knowledge bases it holds
		if _, err := s.readEntry(ctx, kb.Ref); err != nil {
			return nil, err
		}
	}
	loc := s.OwnLocation(kb)
	live, err := s.liveMappings(ctx, loc.Index)
	if fault.Is(err, fault.NotFound) {
		return s.successor(ctx, kb)
	}
	if err != nil {
		return nil, err
	}
	for _, found := range live {
		if err := mappings.Verify(kb, &found); err != nil {
			return nil, err
		}
		loc.stale = found.Meta.Tokenizer != s.tokenizer.Fingerprint()
		loc.Moments = found.Meta.Moments
	}
	return loc, nil
}

// successor locates a knowledge base whose generation is gone, for a caller that does not
// know of the migration yet. It reads the new index by the caller's schema; writes are
// refused, and then find the new one.
func (s *Store) successor(ctx context.Context, kb *engine.KnowledgeBase) (*Location, error) {
	now, err := s.readEntry(ctx, kb.Ref)
	if err != nil || kb.Generation == 0 || now.Generation == kb.Generation {
		return nil, Unknown(kb.Ref)
	}
	next := s.OwnLocation(now)
	if _, err := s.liveMappings(ctx, next.Index); err != nil {
		return nil, Unknown(kb.Ref)
	}
	next.KB, next.alias, next.Moved = *kb, s.WriteAlias(kb), true
	return next, nil
}

// Unknown is the fault of a knowledge base that does not exist.
func Unknown(ref engine.Ref) error {
	return fault.New(fault.NotFound, "knowledge base %q does not exist", ref.ID)
}

// attached finds the fields of an index that somebody else made. An alias or a
// pattern may stand for several; they have to agree.
func (s *Store) attached(ctx context.Context, kb *engine.KnowledgeBase) (*Location, error) {
	live, err := s.liveMappings(ctx, kb.Attach.Index)
	if fault.Is(err, fault.NotFound) || err == nil && len(live) == 0 {
		return nil, &fault.Error{
			Kind: fault.NotFound, Field: "attach.index",
			Detail: "index " + kb.Attach.Index + " does not exist", Err: err,
		}
	}
	if why, is := errors.AsType[*rest.Refusal](err); is && rest.Refused(err) { // nothing but the name was asked for
		return nil, &fault.Error{
			Kind: fault.InvalidArgument, Field: "attach.index",
			Detail: "index " + kb.Attach.Index + " cannot be read: " + why.Shown(), Err: err,
		}
	}
	if err != nil {
		return nil, err
	}
	var names *mappings.Names
	for _, index := range slices.Sorted(maps.Keys(live)) {
		found := live[index]
		next, err := mappings.Attach(kb, &found)
		if err != nil {
			return nil, err
		}
		if names != nil && !names.SameFields(next) {
			return nil, &fault.Error{
				Kind: fault.Conflict, Field: "attach.index",
				Detail: "the indices behind " + kb.Attach.Index + " differ in their text or vector fields",
			}
		}
		names = next
	}
	loc := &Location{KB: *kb, Index: kb.Attach.Index, Names: names}
	if vector, ok := names.Vectors[engine.FieldVector]; ok {
		loc.KB.Dimensions = vector.Dims
	}
	if kb.Attach.Value != "" {
		loc.Own = []esquery.Query{esquery.Term{Field: names.KB, Value: kb.Attach.Value}}
	}
	return loc, nil
}

// liveMappings reads the mappings of all indices that a name stands for.
func (s *Store) liveMappings(ctx context.Context, index string) (map[string]mappings.Mappings, error) {
	var answer map[string]struct {
		Mappings mappings.Mappings `json:"mappings"`
	}
	if err := s.client.Read(ctx, rest.Get("/"+url.PathEscape(index)+"/_mapping"), &answer); err != nil {
		return nil, err
	}
	live := make(map[string]mappings.Mappings, len(answer))
	for name, found := range answer {
		live[name] = found.Mappings
	}
	return live, nil
}

// Path is the path of an endpoint of the index. params are names and values in turn, which
// are not escaped.
func (loc *Location) Path(endpoint string, params ...string) string {
	path, separator := loc.plainPath(endpoint), "?"
	if loc.Routing != "" {
		params = append([]string{"routing", loc.Routing}, params...)
	}
	for i := 0; i+1 < len(params); i += 2 {
		path += separator + params[i] + "=" + params[i+1]
		separator = "&"
	}
	return path
}

// plainPath is Path for what takes no routing.
func (loc *Location) plainPath(endpoint string) string {
	return "/" + url.PathEscape(loc.Index) + "/" + endpoint
}

// NoField is the fault of a field that does not exist.
func (loc *Location) NoField(where, name string) error {
	var known []string
	for _, f := range loc.KB.Fields() {
		known = append(known, f.Name)
	}
	return fault.Invalid(where, name, "a field of the knowledge base: "+strings.Join(known, ", "))
}

// IDFilter matches chunks by their ids.
func (loc *Location) IDFilter(ids []string) esquery.Query {
	if loc.Names.ID == "" {
		return esquery.IDs{Values: ids}
	}
	return esquery.Terms{Field: loc.Names.ID, Texts: ids}
}

const (
	locationLife  = time.Minute // how long a location is cached
	locationsKept = 4096
)

// recent caches data between requests.
type recent struct {
	locations *lru.Cache[locationKey, remembered]
	writes    sync.Map // engine.Ref → *atomic.Int64
	states    sync.Map // engine.Ref → string: the last generation that was seen
	logged    sync.Map // engine.Ref → true: writes go through a change log
	overdue   sync.Map // overdue → time.Time: when an entry was seen first that is not in its document
}

// overdue is an entry of a change log by the revision of its document.
type overdue struct {
	ref   engine.Ref
	id    string
	seqNo int64
}

type locationKey struct {
	ref        engine.Ref
	generation int // of the storage
}

// remembered is a cached location of a knowledge base.
type remembered struct {
	asked engine.KnowledgeBase // as the caller described it
	at    *Location
	since time.Time
}

func newRecent() *recent {
	locations, err := lru.New[locationKey, remembered](locationsKept)
	if err != nil {
		panic(err) // the size is a constant > 0
	}
	return &recent{locations: locations}
}

// location returns the cached location of a knowledge base.
func (r *recent) location(kb *engine.KnowledgeBase) (*Location, bool) {
	last, ok := r.locations.Get(locationKey{kb.Ref, kb.Generation})
	if !ok || time.Since(last.since) > locationLife || !same(&last.asked, kb) {
		return nil, false
	}
	return last.at, true
}

func (r *recent) rememberLocation(kb *engine.KnowledgeBase, at *Location) {
	r.locations.Add(locationKey{kb.Ref, kb.Generation}, remembered{*kb, at, time.Now()})
}

func (r *recent) forgetLocation(kb *engine.KnowledgeBase) {
	r.locations.Remove(locationKey{kb.Ref, kb.Generation})
}

// Writes counts the writes by this process to a knowledge base, and those by others that
// Generation has noticed: what was read of its chunks may be outdated once the count has
// changed.
func (s *Store) Writes(ref engine.Ref) int64 { return s.recent.counter(ref).Load() }

// seen records the state of the chunks: a different one is a change, whoever made it.
// Concurrent calls may see states in the wrong order, which may count too many changes but
// never too few.
func (r *recent) seen(ref engine.Ref, state string) {
	if last, _ := r.states.Swap(ref, state); last != state {
		r.changed(ref)
	}
}

// changed records that chunks were written.
func (r *recent) changed(ref engine.Ref) { r.counter(ref).Add(1) }

func (r *recent) counter(ref engine.Ref) *atomic.Int64 {
	known, ok := r.writes.Load(ref)
	if !ok {
		known, _ = r.writes.LoadOrStore(ref, new(atomic.Int64))
	}
	return known.(*atomic.Int64)
}

// Forget records the end of a migration: the change log is gone, and the knowledge base may
// be in another index.
func (s *Store) Forget(ref engine.Ref) {
	s.recent.logged.Delete(ref)
	s.recent.overdue.Range(func(key, _ any) bool {
		if key.(overdue).ref == ref {
			s.recent.overdue.Delete(key)
		}
		return true
	})
	s.recent.forget(ref)
}

// forget drops the cached location of a knowledge base.
func (r *recent) forget(ref engine.Ref) {
	r.locations.Purge()
	r.changed(ref)
}
