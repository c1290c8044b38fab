package engine

import (
	"encoding/json"
	"time"

	"github.com/hybridge-search/hybridge/fault"
)

// migrationRecord adds the members of a migration that the API does not show.
type migrationRecord struct {
	Migration
	Ref      Ref           `json:"of"`
	From     KnowledgeBase `json:"from"`
	Cursor   string        `json:"cursor"`
	Replayed int64         `json:"replayed_to"`
	Log      string        `json:"log"`
	Switched bool          `json:"switched"`
	Fence    []int64       `json:"fence"`
	Base     int64         `json:"base"`
	Owner    string        `json:"owner"`
	Beat     time.Time     `json:"beat"`
	MovedAt  time.Time     `json:"moved_at"`
}

// EncodeMigration encodes a migration for storage, without its revision.
func EncodeMigration(m *Migration) ([]byte, error) {
	body, err := json.Marshal(migrationRecord{
		Migration: *m, Ref: m.Ref, From: m.From, Cursor: m.Cursor, Replayed: m.Replayed,
		Log: m.Log, Switched: m.Switched, Fence: m.Fence, Base: m.Base, Owner: m.Owner, Beat: m.Beat,
		MovedAt: m.MovedAt,
	})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "writing a migration")
	}
	return body, nil
}

// DecodeMigration is the inverse of EncodeMigration.
func DecodeMigration(body []byte) (*Migration, error) {
	var r migrationRecord
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a stored migration cannot be read")
	}
	m := r.Migration
	m.Ref, m.From, m.Cursor, m.Replayed, m.Log = r.Ref, r.From, r.Cursor, r.Replayed, r.Log
	m.Switched, m.Fence, m.Base, m.Owner, m.Beat = r.Switched, r.Fence, r.Base, r.Owner, r.Beat
	m.Plan.Ref, m.MovedAt = r.Ref, r.MovedAt
	return &m, nil
}

// DecodePlan reads a plan that is being taken.
func DecodePlan(ref Ref, body []byte) (*MappingPlan, error) {
	var plan MappingPlan
	if err := json.Unmarshal(body, &plan); err != nil {
		return nil, fault.Wrap(fault.Corrupt, err, "a stored plan cannot be read")
	}
	plan.State, plan.Ref = PlanApplied, ref
	return &plan, nil
}

// Faults common to all stores of plans and migrations.

// NoMigration is the fault for a knowledge base without a migration.
func NoMigration(ref Ref) error {
	return fault.New(fault.NotFound, "no migration of knowledge base %q is under way", ref.ID)
}

// MigrationBegun is the fault for starting a second migration.
func MigrationBegun(ref Ref) error {
	return fault.New(fault.Conflict, "another migration of knowledge base %q has just begun", ref.ID)
}

// MigrationChanged is the fault for saving an outdated migration.
func MigrationChanged() error {
	return fault.New(fault.Conflict, "the migration was changed at the same time")
}

// PlanTaken is the fault for a plan that was already applied.
func PlanTaken() error {
	return &fault.Error{Kind: fault.Conflict, Field: "plan", Detail: "this plan was applied already; make a new one"}
}

// NoPlan is the fault for an unknown plan.
func NoPlan() error {
	return &fault.Error{Kind: fault.NotFound, Field: "plan", Detail: "there is no such plan for this knowledge base"}
}
