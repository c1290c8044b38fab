package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/engine/elastic/rest"
	"github.com/hybridge-search/hybridge/esquery"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/mappings"
)

// The kinds of records.
const (
	kindPlan      = "plan"
	kindMigration = "migration"
)

// record is a document of the records or of the history.
type record struct {
	Tenant string          `json:"tenant"`
	ID     string          `json:"id"`
	What   string          `json:"what"`
	At     time.Time       `json:"at"`
	Record json.RawMessage `json:"record"`
}

// storedRecord is a record as Elasticsearch returns it.
type storedRecord struct {
	ID          string `json:"_id"`
	SeqNo       int64  `json:"_seq_no"`
	PrimaryTerm int64  `json:"_primary_term"`
	Source      record `json:"_source"`
}

func (k *storedRecord) revision() [2]int64 { return [2]int64{k.SeqNo, k.PrimaryTerm} }

// saved is the response to writing a record.
type saved struct {
	SeqNo       int64 `json:"_seq_no"`
	PrimaryTerm int64 `json:"_primary_term"`
}

// saveRecord stores a record at a path, which may hold a condition, and returns its revision.
func (s *Store) saveRecord(ctx context.Context, path string, r record) ([2]int64, error) {
	request := rest.Put(path, r)
	var answer saved
	err := s.client.Change(ctx, request, &answer)
	return [2]int64{answer.SeqNo, answer.PrimaryTerm}, err
}

// load reads a record as it is at this moment, searchable or not.
func (s *Store) load(ctx context.Context, id string) (*storedRecord, error) {
	var found storedRecord
	err := s.client.Read(ctx, rest.Get(rest.IndexPath(s.migrationsIndex(), "_doc/"+id)), &found)
	return &found, err
}

func planRecordID(ref engine.Ref, id string) string { return digest(ref.Tenant, ref.ID, kindPlan, id) }

func migrationRecordID(ref engine.Ref) string { return digest(ref.Tenant, ref.ID, kindMigration) }

// pathIfUnchanged is the path that writes a record only if nobody else has.
func (s *Store) pathIfUnchanged(id string, revision [2]int64) string {
	return rest.IndexPath(s.migrationsIndex(), "_doc/"+id+"?refresh=true&"+ifUnchanged(revision))
}

// ifUnchanged is the condition that a document still has a revision.
func ifUnchanged(revision [2]int64) string {
	return fmt.Sprintf("if_seq_no=%d&if_primary_term=%d", revision[0], revision[1])
}

// SavePlan implements engine.Migrator.
func (s *Store) SavePlan(ctx context.Context, plan *engine.MappingPlan) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.EnsureIndex(ctx, s.migrationsIndex(), mappings.Migrations()); err != nil {
		return err
	}
	body, err := json.Marshal(plan)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "write a plan")
	}
	_, err = s.saveRecord(ctx, rest.IndexPath(s.migrationsIndex(), "_create/"+planRecordID(plan.Ref, plan.ID)),
		record{plan.Ref.Tenant, plan.Ref.ID, kindPlan, plan.CreatedAt, body})
	return err
}

// TakePlan implements engine.Migrator.
func (s *Store) TakePlan(ctx context.Context, ref engine.Ref, id string) (*engine.MappingPlan, error) {
	found, err := s.load(ctx, planRecordID(ref, id))
	if fault.Is(err, fault.NotFound) {
		return nil, engine.NoPlan()
	}
	if err != nil {
		return nil, err
	}
	var plan engine.MappingPlan
	if err := json.Unmarshal(found.Source.Record, &plan); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a stored plan cannot be read")
	}
	applied := engine.PlanTaken()
	if plan.State != engine.PlanOpen {
		return nil, applied
	}
	plan.State, plan.Ref = engine.PlanApplied, ref
	body, err := json.Marshal(plan)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write a plan")
	}
	found.Source.Record = body
	_, err = s.saveRecord(ctx, s.pathIfUnchanged(found.ID, found.revision()), found.Source)
	if fault.Is(err, fault.Conflict) {
		return nil, applied
	}
	return &plan, err
}

func encodeMigration(m *engine.Migration) (record, error) {
	body, err := engine.EncodeMigration(m)
	if err != nil {
		return record{}, err
	}
	return record{m.Ref.Tenant, m.Ref.ID, kindMigration, m.UpdatedAt, body}, nil
}

// StartMigration implements engine.Migrator.
func (s *Store) StartMigration(ctx context.Context, m *engine.Migration) error {
	r, err := encodeMigration(m)
	if err != nil {
		return err
	}
	path := rest.IndexPath(s.migrationsIndex(), "_create/"+migrationRecordID(m.Ref)+"?refresh=true")
	m.Revision, err = s.saveRecord(ctx, path, r)
	if fault.Is(err, fault.Conflict) {
		return engine.MigrationBegun(m.Ref)
	}
	return err
}

// Migration implements engine.Migrator.
func (s *Store) Migration(ctx context.Context, ref engine.Ref) (*engine.Migration, error) {
	found, err := s.load(ctx, migrationRecordID(ref))
	if fault.Is(err, fault.NotFound) {
		return nil, engine.NoMigration(ref)
	}
	if err != nil {
		return nil, err
	}
	m, err := engine.DecodeMigration(found.Source.Record)
	if err != nil {
		return nil, err
	}
	m.Revision = found.revision()
	return m, nil
}

// SaveMigration implements engine.Migrator.
func (s *Store) SaveMigration(ctx context.Context, m *engine.Migration) error {
	r, err := encodeMigration(m)
	if err != nil {
		return err
	}
	revision, err := s.saveRecord(ctx, s.pathIfUnchanged(migrationRecordID(m.Ref), m.Revision), r)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return fault.Wrap(fault.Conflict, err, "the migration was changed at the same time")
	}
	if err == nil {
		m.Revision = revision
	}
	return err
}

// EndMigration implements engine.Migrator. The history comes first, under the
// migration's id and direction, so that it can be repeated.
func (s *Store) EndMigration(ctx context.Context, m *engine.Migration) error {
	if err := s.EnsureIndex(ctx, s.historyIndex(), mappings.Migrations()); err != nil {
		return err
	}
	r, err := encodeMigration(m)
	if err != nil {
		return err
	}
	r.At = m.FinishedAt
	path := rest.IndexPath(s.historyIndex(), "_doc/"+digest(m.Ref.Tenant, m.Ref.ID, m.ID)+"?refresh=true")
	if _, err = s.saveRecord(ctx, path, r); err != nil {
		return err
	}
	return s.forgetMigration(ctx, m.Ref)
}

func (s *Store) forgetMigration(ctx context.Context, ref engine.Ref) error {
	path := rest.IndexPath(s.migrationsIndex(), "_doc/"+migrationRecordID(ref)+"?refresh=true")
	err := s.client.Change(ctx, rest.Delete(path), nil)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// dropMigration ends the migration of a knowledge base that is to be deleted.
func (s *Store) dropMigration(ctx context.Context, ref engine.Ref) error {
	s.recent.logged.Delete(ref)
	return s.forgetMigration(ctx, ref)
}

const recordsPerPage = 1000

// migrations searches their records, or the history.
func (s *Store) migrations(ctx context.Context, index string, search esquery.Search) ([]engine.Migration, error) {
	search.Source = []string{"tenant", "id", "what", "at", "record"}
	request := rest.Post(rest.IndexPath(index, "_search?ignore_unavailable=true&seq_no_primary_term=true"), search)
	var answer struct {
		Hits struct {
			Hits []storedRecord `json:"hits"`
		} `json:"hits"`
	}
	if err := s.client.Read(ctx, request, &answer); err != nil {
		return nil, err
	}
	list := []engine.Migration{}
	for i := range answer.Hits.Hits {
		m, err := engine.DecodeMigration(answer.Hits.Hits[i].Source.Record)
		if err != nil {
			return nil, err
		}
		m.Revision = answer.Hits.Hits[i].revision()
		list = append(list, *m)
	}
	return list, nil
}

// Migrations implements engine.Migrator: at most 1000 at a time.
func (s *Store) Migrations(ctx context.Context) ([]engine.Migration, error) {
	return s.migrations(ctx, s.migrationsIndex(), esquery.Search{
		Query: esquery.Term{Field: "what", Value: kindMigration}, Size: recordsPerPage,
	})
}

// MigrationHistory implements engine.Migrator.
func (s *Store) MigrationHistory(ctx context.Context, ref engine.Ref, limit int) ([]engine.Migration, error) {
	return s.migrations(ctx, s.historyIndex(), esquery.Search{
		Query: esquery.Bool{Filter: []esquery.Query{
			esquery.Term{Field: "tenant", Value: ref.Tenant}, esquery.Term{Field: "id", Value: ref.ID},
		}},
		Size: min(limit, recordsPerPage), Sort: []esquery.Sort{{Field: "at", Order: esquery.Descending}},
	})
}
