package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// table is the SQL of one knowledge base's chunks. Its name is ours, and the names
// of its vector columns are ours or such as engine.KnowledgeBase.CheckVectorFields accepts.
type table struct {
	number  int64
	name    string
	vectors []string    // a column per vector field
	made    atomic.Bool // the first write makes it: SQLite takes the longer for each, the more there are
}

// tablePrefix is what the names of all tables begin with, before a number.
const tablePrefix = "chunks_"

func tableOf(number int64, kb *engine.KnowledgeBase) *table {
	return &table{number: number, name: fmt.Sprint(tablePrefix, number), vectors: kb.FieldsOf(scoring.Vector)}
}

// source is what reads select from: the table, or no rows with its columns.
func (t *table) source() string {
	if t.made.Load() {
		return t.name
	}
	nothing := ""
	for _, v := range t.vectors {
		nothing += ", NULL AS " + v
	}
	return "(SELECT 0 AS row, '' AS id, '' AS document_id, '' AS document_name, 0 AS ordinal, 0 AS available, " +
		"'' AS owner, '' AS fields, '' AS body, NULL AS checksum" + nothing + " LIMIT 0)"
}

// create makes the table, unless a commit of unknown outcome did. AUTOINCREMENT keeps row numbers
// from being used again.
func (t *table) create(ctx context.Context, tx *sql.Tx) error {
	columns := ""
	for _, v := range t.vectors {
		columns += ", " + v + " BLOB"
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`
		CREATE TABLE IF NOT EXISTS %[1]s (
			row           INTEGER PRIMARY KEY AUTOINCREMENT,
			id            TEXT    NOT NULL UNIQUE,
			document_id   TEXT    NOT NULL,
			document_name TEXT    NOT NULL,
			ordinal       INTEGER NOT NULL,
			available     INTEGER NOT NULL,
			owner         TEXT    NOT NULL,
			fields        TEXT    NOT NULL, -- what filters and facets see, as JSON
			body          TEXT    NOT NULL  -- engine.Chunk as JSON
			%[2]s,
			checksum      INTEGER           -- see type checksum; NULL: of a version without
		);
		CREATE INDEX IF NOT EXISTS %[1]s_document ON %[1]s (document_id, ordinal, id)`, t.name, columns))
	return err
}

func (t *table) drop(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+t.name)
	return err
}

// columns are those that type columns has, in the order of rowReader and of values.
func (t *table) columns() string {
	return "row, checksum, id, document_id, document_name, ordinal, available, owner, fields, body" + t.vectorColumns()
}

// ids is the table as its index of ids has it, which is stored apart from the rows.
func (t *table) ids() string {
	if !t.made.Load() {
		return t.source()
	}
	return t.name + " INDEXED BY sqlite_autoindex_" + t.name + "_1"
}

func (t *table) insertion() string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?%s)",
		t.name, t.columns(), strings.Repeat(", ?", len(t.vectors)))
}

// values are the columns of a row, sealed.
func (c *columns) values(room *[]byte) []any {
	r := &c.record
	all := []any{
		c.row, int64(c.checksum(room)), r.id, r.documentID, r.documentName, c.ordinal, r.available, r.owner,
		string(c.fields), string(c.body),
	}
	for _, data := range c.blobs {
		all = append(all, data)
	}
	return all
}

// vectorColumns is ", a, b" to follow other columns.
func (t *table) vectorColumns() string {
	if len(t.vectors) == 0 {
		return ""
	}
	return ", " + strings.Join(t.vectors, ", ")
}

// bare counts the rows of a group that have no vector; 0 where there are no vector fields.
func (t *table) bare() string {
	if len(t.vectors) == 0 {
		return "0"
	}
	return "SUM(" + strings.Join(t.vectors, " IS NULL AND ") + " IS NULL)"
}

// remove deletes rows.
func (t *table) remove(ctx context.Context, tx *sql.Tx, rows []uint32) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM "+t.name+" WHERE row IN (SELECT value FROM json_each(?))", string(list))
	return err
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// lastRow is the highest row number that was ever given, 0 before the first.
func (t *table) lastRow(ctx context.Context, db querier) (uint64, error) {
	var last uint64
	if !t.made.Load() {
		return 0, nil
	}
	err := db.QueryRowContext(ctx, "SELECT max(COALESCE((SELECT seq FROM sqlite_sequence WHERE name = ?), 0),"+
		" COALESCE((SELECT MAX(row) FROM "+t.name+"), 0))", t.name).Scan(&last)
	return last, err
}

// bounds are the lowest and the highest row number, 0 without rows.
func (t *table) bounds(ctx context.Context, db *sql.DB) (first, last uint64, err error) {
	if !t.made.Load() {
		return 0, 0, nil
	}
	err = db.QueryRowContext(ctx, fmt.Sprintf( // two questions, each of which an end of the table answers
		"SELECT COALESCE((SELECT MIN(row) FROM %[1]s), 0), COALESCE((SELECT MAX(row) FROM %[1]s), 0)", t.name)).
		Scan(&first, &last)
	return first, last, err
}

// insert adds chunks and notes the row that each got. The row is part of the checksum, so it
// is not left to SQLite.
func (t *table) insert(ctx context.Context, tx *sql.Tx, chunks []*prepared) error {
	if len(chunks) == 0 {
		return nil
	}
	last, err := t.lastRow(ctx, tx)
	if err != nil {
		return err
	}
	if last+uint64(len(chunks)) > math.MaxUint32-1 {
		return fmt.Errorf("table %s is out of row numbers", t.name)
	}
	var room []byte
	statement, err := tx.PrepareContext(ctx, t.insertion())
	if err != nil {
		return err
	}
	defer statement.Close() //nolint:errcheck // the transaction ends with it
	for i, p := range chunks {
		p.row = uint32(last) + uint32(i) + 1
		p.stored.row = p.row
		if _, err := statement.ExecContext(ctx, p.stored.values(&room)...); err != nil {
			return err
		}
	}
	return nil
}

// blob is a vector as the file keeps it: little-endian float32.
func blob(v []float32) []byte {
	if v == nil {
		return nil
	}
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// vectorFrom is the opposite of blob; nil when it is not a vector of dims.
func vectorFrom(data []byte, dims int) []float32 {
	v := make([]float32, dims)
	if len(data) == 0 || !decodeVector(v, data) {
		return nil
	}
	return v
}

// decodeVector is the opposite of blob; false when it is not a vector as long as v.
func decodeVector(v []float32, data []byte) bool {
	if len(data) != 4*len(v) {
		return false
	}
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return true
}
