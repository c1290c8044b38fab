package storage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/fault"
)

// generationTimeout is about the time of a search: a cached answer must not cost more.
const generationTimeout = 500 * time.Millisecond

// generationFields selects parts of an index's statistics: per copy of a shard, its last
// sequence number and number of refreshes, and the node and the commit that these count
// from.
const generationFields = "_shards,indices.*.uuid," +
	"indices.*.shards.*.routing.node,indices.*.shards.*.routing.state,indices.*.shards.*.commit.id," +
	"indices.*.shards.*.seq_no.max_seq_no,indices.*.shards.*.refresh.external_total"

// Generation implements engine.Generations: a digest of every shard copy's last
// sequence number and number of refreshes. It changes with every write, whoever makes it,
// and again when the write becomes visible. Knowledge bases that share an index change
// together. An attached index has none: its owner may change more than chunks.
// A change by another gateway counts as a write (Writes): nothing that was read before it
// is used in a search that begins after the call.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/indices-stats.html
func (s *Store) Generation(ctx context.Context, kb *engine.KnowledgeBase) (string, error) {
	if kb.Attach != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, generationTimeout)
	defer cancel()
	loc, err := s.Locate(ctx, kb)
	if err != nil {
		return "", err
	}
	r := rest.Get(loc.plainPath("_stats/refresh?level=shards&filter_path=" + generationFields))
	var stats indexStats
	if err := s.client.Once(ctx, r, &stats); err != nil {
		return "", err
	}
	state, err := stats.digest()
	if err == nil && state != "" {
		s.recent.seen(kb.Ref, state)
	}
	return state, err
}

// indexStats are the parts of _stats that generationFields lets through.
type indexStats struct {
	Shards struct {
		Failed int `json:"failed"`
	} `json:"_shards"`
	Indices map[string]struct {
		UUID   string                 `json:"uuid"`
		Shards map[string][]copyStats `json:"shards"`
	} `json:"indices"`
}

type copyStats struct {
	Routing struct {
		Node  string `json:"node"`
		State string `json:"state"`
	} `json:"routing"`
	Commit struct {
		ID string `json:"id"`
	} `json:"commit"`
	SeqNo struct {
		Max *int64 `json:"max_seq_no"`
	} `json:"seq_no"`
	Refresh struct {
		External *int64 `json:"external_total"`
	} `json:"refresh"`
}

// unsettled reports a copy that is being moved, or does not report its state.
func (c copyStats) unsettled() bool {
	return c.Routing.State != "STARTED" || c.SeqNo.Max == nil || c.Refresh.External == nil
}

// digest is empty if the state of a copy is unknown.
func (s *indexStats) digest() (string, error) {
	if s.Shards.Failed > 0 || len(s.Indices) == 0 {
		return "", nil
	}
	for _, index := range s.Indices {
		for _, copies := range index.Shards {
			if slices.ContainsFunc(copies, copyStats.unsettled) {
				return "", nil
			}
			slices.SortFunc(copies, func(a, b copyStats) int { return cmp.Compare(a.Routing.Node, b.Routing.Node) })
		}
	}
	data, err := json.Marshal(s.Indices)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "write the statistics as JSON")
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
