// Package foreign reads the documents of any index as chunks, each a line of JSON as package
// ingest takes it.
//
// All pages come from one point in time, so that later writes change nothing.
// https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-open-point-in-time
package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
)

// Place is a position among the documents. It is valid until Elasticsearch forgets the point in
// time, which is an hour after it was last used.
type Place struct {
	PointInTime string            `json:"point_in_time"`
	After       []json.RawMessage `json:"after,omitempty"`
	Documents   int               `json:"documents"` // that were read
}

// noMetadata are the types of fields whose values are of no use to people.
var noMetadata = []string{"dense_vector", "sparse_vector", "rank_vectors", "semantic_text", "binary"}

const (
	keepAlive = "1h"
	pageSize  = 200
)

// Reader reads one index, by one goroutine.
type Reader struct {
	client     *rest.Client
	mapping    Mapping
	vectors    map[string]string // field by member
	dimensions int
	unreadable []string // fields that are no metadata, and vectors, which are read another way
	several    bool     // indexes, whose ids may be the same
	total      int
	place      Place
}

// Options of a Reader.
type Options struct {
	Index   string // or an alias, or a pattern
	Mapping Mapping
	Setting string // name of the mapping in errors, as --map
	Place   Place  // where an earlier reader was; empty: the beginning
}

// Open looks at the index and begins. If the place is forgotten, it begins anew, which Place
// then says.
func Open(ctx context.Context, client *rest.Client, o *Options) (*Reader, error) {
	r := &Reader{client: client, mapping: o.Mapping, vectors: o.Mapping.vectors(), place: o.Place}
	var indexes map[string]struct {
		Mappings fieldType `json:"mappings"`
	}
	err := client.Read(ctx, rest.Get(rest.IndexPath(o.Index, "_mapping")), &indexes)
	if fault.Is(err, fault.NotFound) || rest.Refused(err) || err == nil && len(indexes) == 0 { // refused: no such name
		return nil, fault.Invalid("index", o.Index, "an index that exists")
	}
	if err != nil {
		return nil, credentials(err)
	}
	r.several = len(indexes) > 1
	fields := map[string]fieldType{}
	for _, index := range indexes {
		leaves(index.Mappings.Properties, "", fields)
	}
	for name, field := range fields {
		if slices.Contains(noMetadata, field.Type) {
			r.unreadable = append(r.unreadable, name)
		}
	}
	if r.dimensions, err = o.Mapping.check(o.Setting, o.Index, fields); err != nil {
		return nil, err
	}
	if r.place.PointInTime != "" {
		err := r.count(ctx)
		if err == nil || !fault.Is(err, fault.NotFound) {
			return r, err
		}
	}
	var opened struct{ ID string }
	request := rest.Request{Method: "POST", Path: rest.IndexPath(o.Index, "_pit")}.With("keep_alive=" + keepAlive)
	if err := client.Read(ctx, request, &opened); err != nil {
		return nil, err
	}
	r.place = Place{PointInTime: opened.ID}
	return r, r.count(ctx)
}

// credentials marks a refusal as the source's, not the gateway's.
func credentials(err error) error {
	if refusal, is := errors.AsType[*rest.Refusal](err); is && refusal.Has("security_exception") {
		return fault.Wrap(fault.Unavailable, err,
			"Elasticsearch refuses the user, the password or the API key, or to read the index")
	}
	return err
}

// Close forgets the point in time.
func (r *Reader) Close(ctx context.Context) error {
	return r.client.Read(ctx, rest.Request{
		Method: "DELETE", Path: "/_pit", JSON: map[string]string{"id": r.place.PointInTime},
	}, nil)
}

// Dimensions is the length of the vectors; 0: none are read.
func (r *Reader) Dimensions() int { return r.dimensions }

// Total is the number of documents.
func (r *Reader) Total() int { return r.total }

// Place returns the position to resume from.
func (r *Reader) Place() Place { return r.place }

// page is an answer of Elasticsearch.
type page struct {
	PIT  string `json:"pit_id"`
	Hits struct {
		Total struct{ Value int }
		Hits  []hit
	}
	Shards struct{ Failed int } `json:"_shards"`
}

type hit struct {
	ID     string `json:"_id"`
	Index  string `json:"_index"`
	Source json.RawMessage
	Fields map[string][]json.RawMessage
	Sort   []json.RawMessage
}

// UnmarshalJSON reads a hit, whose _source must not lose digits.
func (h *hit) UnmarshalJSON(data []byte) error {
	type plain hit
	return json.Unmarshal(data, &struct {
		*plain
		Source *json.RawMessage `json:"_source"`
	}{(*plain)(h), &h.Source})
}

func (r *Reader) search(ctx context.Context, body map[string]any) (*page, error) {
	body["pit"] = map[string]string{"id": r.place.PointInTime, "keep_alive": keepAlive}
	var p page
	if err := r.client.Read(ctx, rest.PostJSON("/_search", body), &p); err != nil {
		return nil, err
	}
	if p.Shards.Failed > 0 { // of a point in time this one would then lack documents
		return nil, fault.New(fault.Unavailable, "%d shards of the index did not answer", p.Shards.Failed)
	}
	if p.PIT != "" {
		r.place.PointInTime = p.PIT
	}
	return &p, nil
}

func (r *Reader) count(ctx context.Context) error {
	p, err := r.search(ctx, map[string]any{"size": 0, "track_total_hits": true})
	if err == nil {
		r.total = p.Hits.Total.Value
	}
	return err
}

// Next reads some documents: their chunks, one a line. Without any it was all.
func (r *Reader) Next(ctx context.Context) (lines []byte, documents int, err error) {
	body := map[string]any{"size": pageSize, "sort": []string{"_shard_doc"}, "track_total_hits": false}
	if r.place.After != nil {
		body["search_after"] = r.place.After
	}
	if len(r.unreadable) > 0 {
		body["_source"] = map[string]any{"excludes": r.unreadable}
	}
	if len(r.vectors) > 0 { // newer versions have none in _source
		body["fields"] = slices.Collect(maps.Values(r.vectors))
	}
	p, err := r.search(ctx, body)
	if err != nil || len(p.Hits.Hits) == 0 {
		return nil, 0, err
	}
	var out bytes.Buffer
	for i := range p.Hits.Hits {
		h := &p.Hits.Hits[i]
		line, err := r.chunk(h)
		if err != nil {
			return nil, 0, fault.Wrap(fault.Unavailable, err, "document %q of index %q cannot be read", h.ID, h.Index)
		}
		out.Write(append(line, '\n'))
	}
	r.place.After = p.Hits.Hits[len(p.Hits.Hits)-1].Sort
	r.place.Documents += len(p.Hits.Hits)
	return out.Bytes(), len(p.Hits.Hits), nil
}

// chunk writes a document as a chunk.
func (r *Reader) chunk(h *hit) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(h.Source))
	decoder.UseNumber()
	var source map[string]any
	if err := decoder.Decode(&source); err != nil {
		return nil, err
	}
	id := h.ID
	if r.several {
		id = h.Index + "/" + id
	}
	chunk, metadata := map[string]any{"id": id}, map[string]any{}
	for member, field := range r.mapping.Members {
		if _, isVector := r.vectors[member]; isVector {
			if values := h.Fields[field]; values != nil {
				chunk[member] = values
			}
			continue
		}
		value := any(h.ID)
		if field != "_id" {
			value = find(source, field)
		}
		if value == nil {
			continue
		}
		if name := strings.TrimPrefix(member, metadataPrefix); name != member {
			keep(metadata, name, value)
			continue
		}
		chunk[member] = as(members[member], value)
	}
	if !r.mapping.OnlyMapped {
		r.keepOthers(metadata, "", source)
	}
	if len(metadata) > 0 {
		chunk["metadata"] = metadata
	}
	return json.Marshal(chunk)
}

// keepOthers adds the fields that the mapping does not have to the metadata.
func (r *Reader) keepOthers(metadata map[string]any, prefix string, source map[string]any) {
	for name, value := range source {
		name = prefix + name
		if inner, is := value.(map[string]any); is {
			r.keepOthers(metadata, name+".", inner)
			continue
		}
		taken := false
		for _, field := range r.mapping.Members {
			taken = taken || field == name
		}
		if _, given := metadata[name]; !taken && !given {
			keep(metadata, name, value)
		}
	}
}

// keep adds values that metadata can have: a value, or a list of values.
func keep(metadata map[string]any, name string, value any) {
	switch v := value.(type) {
	case nil, map[string]any:
		return
	case []any:
		list := make([]any, 0, len(v))
		for _, one := range v {
			switch one.(type) {
			case nil, map[string]any, []any:
				return
			}
			list = append(list, exact(one))
		}
		metadata[name] = list
	default:
		metadata[name] = exact(v)
	}
}

// exact makes a text of a number that is too large to be kept as a number.
func exact(value any) any {
	n, is := value.(json.Number)
	if !is || strings.ContainsAny(n.String(), ".eE") {
		return value
	}
	if f, err := n.Float64(); err != nil || math.Abs(f) >= 1<<53 {
		return n.String()
	}
	return value
}

// find is the value of a dotted field, however it is nested; nil: there is none.
func find(source map[string]any, field string) any {
	if value, found := source[field]; found {
		return value
	}
	for i := range len(field) {
		if field[i] != '.' {
			continue
		}
		if inner, is := source[field[:i]].(map[string]any); is {
			if value := find(inner, field[i+1:]); value != nil {
				return value
			}
		}
	}
	return nil
}

// as converts a value to the type of a member.
func as(kind memberKind, value any) any {
	list, isList := value.([]any)
	switch {
	case kind == number:
		return value
	case kind == texts && isList:
		all := make([]string, 0, len(list))
		for _, one := range list {
			if t := asText(one); t != "" && !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
		return all
	case kind == texts:
		return []string{asText(value)}
	case isList:
		parts := make([]string, 0, len(list))
		for _, one := range list {
			parts = append(parts, asText(one))
		}
		return strings.Join(parts, "\n\n")
	default:
		return asText(value)
	}
}

func asText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		text, _ := json.Marshal(v) // what JSON gave encodes
		return string(text)
	default:
		return fmt.Sprint(v)
	}
}

// SplitURL takes user and password out of an address.
func SplitURL(address string) (plain, user, password string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", "", fault.Invalid("--from-elasticsearch", "given",
			"an http(s) URL, as https://user:password@host:9200")
	}
	user = u.User.Username()
	password, _ = u.User.Password()
	u.User = nil
	return u.String(), user, password, nil
}
