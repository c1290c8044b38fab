package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/storage"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/mappings"
)

const (
	defaultSample = 200
	samplePage    = 200
	foreignPage   = 1000
)

// checkStep compares documents field by field, and looks for writes that bypassed
// the gateway. The counts are compared by the switch: while writes go on they differ.
func (s *Steps) checkStep(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	m.Checks = nil
	if err := s.putSettings(ctx, m.ToIndex, map[string]any{"index.refresh_interval": "1s"}); err != nil {
		return err
	}
	for _, index := range []string{m.FromIndex, m.ToIndex} {
		if err := s.refreshIndex(ctx, index); err != nil {
			return err
		}
	}
	if err := s.checkForeign(ctx, m); err != nil {
		return err
	}
	if err := s.checkSample(ctx, m, env); err != nil {
		return err
	}
	return env.Save(ctx)
}

// checkForeign fails unless the change log names every document that was written since it
// began: what somebody else wrote would be in one index only.
func (s *Steps) checkForeign(ctx context.Context, m *engine.Migration) error {
	seen := 0
	for shard := range m.Fence {
		n, err := s.checkShard(ctx, m, shard)
		if err != nil {
			return err
		}
		seen += n
	}
	m.Pass("no foreign writes", "all %d documents written since are in the change log", seen)
	return nil
}

// checkShard does so for one shard, and counts its documents.
func (s *Steps) checkShard(ctx context.Context, m *engine.Migration, shard int) (seen int, err error) {
	for after := m.Fence[shard]; ; {
		docs, err := s.searchDocuments(ctx, m.FromIndex, documentSearch{shard: &shard, Search: esquery.Search{
			Query: esquery.Range{Field: "_seq_no", GT: after}, Size: foreignPage, Sort: ascending("_seq_no"),
		}})
		if err != nil || len(docs) == 0 {
			return seen, err
		}
		ids := make([]string, len(docs))
		for i := range docs {
			ids[i] = docs[i].ID
		}
		entries, err := s.getDocuments(ctx, m.Log, ids)
		if err != nil {
			return seen, err
		}
		for i := range entries {
			if !entries[i].Found {
				return seen, m.Miss("no foreign writes",
					"document %q of index %s was written past the gateway (sequence number %d); cancel, and plan again",
					ids[i], m.FromIndex, docs[i].SeqNo)
			}
		}
		after = docs[len(docs)-1].SeqNo
		seen += len(docs)
	}
}

// checkSample compares random documents field by field.
func (s *Steps) checkSample(ctx context.Context, m *engine.Migration, env engine.MigrationEnv) error {
	left := cmp.Or(m.Plan.Options.Sample, defaultSample)
	compared := 0
	for seed := time.Now().UnixNano(); left > 0; seed++ {
		docs, err := s.searchDocuments(ctx, m.FromIndex, documentSearch{Search: esquery.Search{
			Query: esquery.RandomScore{Query: esquery.MatchAll{}, Seed: seed % 1_000_000_007, Field: "_seq_no"},
			Size:  min(left, samplePage), WholeSource: true,
		}})
		if err != nil {
			return err
		}
		n, err := s.compare(ctx, m, docs)
		if err != nil {
			return err
		}
		compared += n
		left -= samplePage
		if len(docs) < samplePage {
			break
		}
		if err := env.Save(ctx); err != nil {
			return err
		}
	}
	m.Pass("sampled documents", "%d documents agree field by field", compared)
	return nil
}

// compare compares documents of the old index with their copies in the new one, and returns
// their number: documents being written are skipped.
func (s *Steps) compare(ctx context.Context, m *engine.Migration, docs []storedDocument) (int, error) {
	if len(docs) == 0 {
		return 0, nil
	}
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	copies, err := s.getDocuments(ctx, m.ToIndex, ids)
	if err != nil {
		return 0, err
	}
	now, err := s.getDocuments(ctx, m.FromIndex, ids)
	if err != nil {
		return 0, err
	}
	compared := 0
	for i := range docs {
		if !now[i].Found || now[i].Version != docs[i].Version || copies[i].Found && copies[i].Version > docs[i].Version {
			continue
		}
		if !copies[i].Found {
			return 0, m.Miss("sampled documents", "document %q is not in the new index", ids[i])
		}
		if field, differs := firstDifference(m, &docs[i], &copies[i]); differs {
			return 0, m.Miss("sampled documents", "document %q differs in field %s", ids[i], field)
		}
		compared++
	}
	return compared, nil
}

// keptFields do not change with the shape.
var keptFields = []string{
	mappings.FieldID, mappings.FieldTenant, mappings.FieldKB, mappings.FieldDocumentID, mappings.FieldDocumentName,
	mappings.FieldOwner, mappings.FieldAvailable, mappings.FieldOrdinal, mappings.FieldMetadata, mappings.FieldChunk,
}

// firstDifference names the first field in which a copy differs.
func firstDifference(m *engine.Migration, original, duplicate *storedDocument) (field string, differs bool) {
	var a, b map[string]any
	if json.Unmarshal(original.Source, &a) != nil || json.Unmarshal(duplicate.Source, &b) != nil {
		return "_source", true
	}
	for _, document := range []map[string]any{a, b} {
		storage.ForgetSize(document)
		if m.Diff().Copy != engine.CopyReindex {
			storage.ForgetMoments(document)
		}
	}
	fields := keptFields
	if m.Diff().Copy == engine.CopyReindex {
		fields = nil
		for name := range a {
			fields = append(fields, name)
		}
		for name := range b {
			fields = append(fields, name)
		}
	}
	for _, name := range fields {
		if !reflect.DeepEqual(a[name], b[name]) {
			return name, true
		}
	}
	return "", false
}

// checkCounts compares the numbers of documents; no write may be under way.
func (s *Steps) checkCounts(ctx context.Context, m *engine.Migration) error {
	var counts [2]int
	for i, index := range []string{m.FromIndex, m.ToIndex} {
		if err := s.refreshIndex(ctx, index); err != nil {
			return err
		}
		n, err := s.countAll(ctx, index)
		if err != nil {
			return err
		}
		counts[i] = n
	}
	if counts[0] != counts[1] {
		return m.Miss("counts", "%s has %d documents and %s has %d", m.FromIndex, counts[0], m.ToIndex, counts[1])
	}
	m.Pass("counts", "%d documents in each", counts[0])
	return nil
}
