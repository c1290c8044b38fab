package mappings

// Template is the body of an index template.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/indices-put-template.html
type Template struct {
	Patterns        []string `json:"index_patterns"`
	Priority        int      `json:"priority"`
	AllowAutoCreate bool     `json:"allow_auto_create"`
}

// templatePriority is above Elasticsearch's own templates (100) and low enough
// to be overridden.
const templatePriority = 150

// NoAutoCreate keeps Elasticsearch from making an index of this pattern just
// because a document is written to it. A longer pattern has a higher priority:
// Elasticsearch refuses equal ones for patterns that overlap, as those of two gateways
// do if the prefix of one begins with the other's.
func NoAutoCreate(pattern string) Template {
	return Template{Patterns: []string{pattern}, Priority: templatePriority + len(pattern), AllowAutoCreate: false}
}

// Migrations gives the index of plans and migrations, or of the history of those
// that ended.
func Migrations() Index {
	keyword := Property{Type: "keyword"}
	return Index{
		Settings: Settings{IndexSettings{Shards: 1, Replicas: "0-1", RefreshInterval: "1s"}},
		Mappings: Mappings{Dynamic: "strict", Properties: map[string]Property{
			"tenant": keyword, "id": keyword, "what": keyword, "at": {Type: "date"},
			"record": {Type: "object", Enabled: new(false)},
		}},
	}
}

// ChangeLog gives the index of the writes to a knowledge base during a
// migration: one entry per document written, under the same _id. Its sequence
// numbers are the order of the writes.
func ChangeLog() Index {
	return Index{
		Settings: Settings{IndexSettings{Shards: 1, Replicas: "0-1", RefreshInterval: "1s"}},
		Mappings: Mappings{Dynamic: "strict", Properties: map[string]Property{"op": {Type: "keyword"}}},
	}
}

// Schema is that of what the gateway stores in Elasticsearch; minReader is the oldest whose
// programs may read and write it. A change that only adds leaves minReader as it is.
const (
	Schema    = 1
	minReader = 1
)

// Catalogue gives the index that lists all knowledge bases, and says in _meta which programs
// may use what is stored.
func Catalogue() Index {
	version := &Meta{Schema: Schema, MinReader: minReader}
	return Index{
		Settings: Settings{IndexSettings{Shards: 1, Replicas: "0-1", RefreshInterval: "1s"}},
		Mappings: Mappings{Dynamic: "strict", Meta: version, Properties: map[string]Property{
			"tenant": {Type: "keyword"},
			"id":     {Type: "keyword"},
			"kb":     {Type: "object", Enabled: new(false)},
		}},
	}
}

// APIKeys gives the index of the API keys: what a key is, and when it was last used.
func APIKeys() Index {
	return Index{
		Settings: Settings{IndexSettings{Shards: 1, Replicas: "0-1", RefreshInterval: "1s"}},
		Mappings: Mappings{Dynamic: "strict", Properties: map[string]Property{
			"name": {Type: "keyword"}, "last_used": {Type: "long"},
			"record": {Type: "keyword", Index: new(false), DocValues: new(false)},
		}},
	}
}

// Usage gives the index of what tenants write.
func Usage() Index {
	return Index{
		Settings: Settings{IndexSettings{Shards: 1, Replicas: "0-1", RefreshInterval: "1s"}},
		Mappings: Mappings{Dynamic: "strict", Properties: map[string]Property{
			"tenant": {Type: "keyword"}, "day": {Type: "keyword"}, "bytes": {Type: "long"},
		}},
	}
}

// Records gives the index of what evaluations keep: a document a collection, and one for each of
// its items, which has as its of the life of the collection. head and body are JSON as a text, so
// that they come back byte for byte.
func Records() Index {
	keyword, text := Property{Type: "keyword"}, Property{Type: "object", Enabled: new(false)}
	return Index{
		Settings: Settings{IndexSettings{Shards: 1, Replicas: "0-1", RefreshInterval: "1s"}},
		Mappings: Mappings{Dynamic: "strict", Properties: map[string]Property{
			"tenant": keyword, "kind": keyword, "id": keyword,
			"life": keyword, "version": {Type: "long"}, "created_at": {Type: "date"}, "updated_at": {Type: "date"},
			"deleting": {Type: "boolean"}, "head": text,
			"of": keyword, "key": keyword, "body": text,
		}},
	}
}
