package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"sync/atomic"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/scoring"
)

// table is the SQL of one knowledge base's chunks. Its name is generated, and its vector
// columns are checked by engine.KnowledgeBase.CheckVectorFields.
type table struct {
	number  int64
	name    string
	vectors []string    // a column per vector field
	made    atomic.Bool // created by the first write: SQLite slows down with the number of tables
}

// tablePrefix is the prefix of all table names, before a number.
const tablePrefix = "chunks_"

func tableOf(number int64, kb *engine.KnowledgeBase) *table {
	return &table{number: number, name: fmt.Sprint(tablePrefix, number), vectors: kb.FieldsOf(scoring.Vector)}
}

// source is the FROM clause of reads: the table, or an empty one with its columns.
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

// create creates the table, unless a commit of unknown outcome did. AUTOINCREMENT keeps row numbers from
// being used again.
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

// columns lists the columns of type columns, in the order of rowReader and values.
func (t *table) columns() string {
	return "row, checksum, id, document_id, document_name, ordinal, available, owner, fields, body" + t.vectorColumns()
}

// ids is the FROM clause that reads only the index of ids, which is stored apart from the rows.
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

// values returns the columns of a row, with checksum.
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

// bare counts the rows of a group without a vector; 0 if there are no vector fields.
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

// lastRow returns the highest row number ever assigned, 0 before the first.
func (t *table) lastRow(ctx context.Context, db querier) (uint64, error) {
	var last uint64
	if !t.made.Load() {
		return 0, nil
	}
	err := db.QueryRowContext(ctx, "SELECT max(COALESCE((SELECT seq FROM sqlite_sequence WHERE name = ?), 0),"+
		" COALESCE((SELECT MAX(row) FROM "+t.name+"), 0))", t.name).Scan(&last)
	return last, err
}

// bounds returns the lowest and the highest row number, 0 without rows.
func (t *table) bounds(ctx context.Context, db *sql.DB) (first, last uint64, err error) {
	if !t.made.Load() {
		return 0, 0, nil
	}
	err = db.QueryRowContext(ctx, fmt.Sprintf( // two subqueries, each answered by one end of the table
		"SELECT COALESCE((SELECT MIN(row) FROM %[1]s), 0), COALESCE((SELECT MAX(row) FROM %[1]s), 0)", t.name)).
		Scan(&first, &last)
	return first, last, err
}

// insert adds chunks and notes the row that each got. The row is part of the checksum, so SQLite does not
// assign it.
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

// blob encodes a vector as little-endian float32.
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

// vectorFrom is the inverse of blob; nil if it is not a vector of dims.
func vectorFrom(data []byte, dims int) []float32 {
	v := make([]float32, dims)
	if len(data) == 0 || !decodeVector(v, data) {
		return nil
	}
	return v
}

// decodeVector is the inverse of blob; false if it is not a vector as long as v.
func decodeVector(v []float32, data []byte) bool {
	if len(data) != 4*len(v) {
		return false
	}
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return true
}

// castagnoli is the polynomial with hardware support.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum holds two CRC-32s: the low half covers a chunk's body, which is often read alone; the high half
// the row number and all other columns. Rows written before checksums existed have none.
type checksum int64

// holdsBody reports whether a body is intact.
func (c checksum) holdsBody(body []byte) bool { return uint32(c) == crc32.Checksum(body, castagnoli) }

// columns holds the columns of a chunk's row in the file.
type columns struct {
	row     uint32
	record  record
	ordinal int64
	fields  []byte // JSON
	body    []byte // JSON
	blobs   [][]byte
}

// checksum computes the expected checksum of the row. room is a buffer for reuse.
func (c *columns) checksum(room *[]byte) checksum {
	head := binary.LittleEndian.AppendUint32((*room)[:0], c.row)
	head = binary.AppendVarint(head, c.ordinal)
	available := byte(0)
	if c.record.available {
		available = 1
	}
	head = append(head, available)
	for _, text := range []string{c.record.id, c.record.documentID, c.record.documentName, c.record.owner} {
		head = append(binary.AppendUvarint(head, uint64(len(text))), text...)
	}
	head = binary.AppendUvarint(head, uint64(len(c.fields)))
	for _, data := range c.blobs {
		head = binary.AppendUvarint(head, uint64(len(data)))
	}
	*room = head
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, c.fields)
	for _, data := range c.blobs {
		sum = crc32.Update(sum, castagnoli, data)
	}
	return checksum(uint64(sum)<<32 | uint64(crc32.Checksum(c.body, castagnoli)))
}

// integer is a column read without reflection, which would take longer than SQLite takes
// for the whole row.
type integer struct {
	value int64
	there bool // it is not NULL
}

// Scan implements sql.Scanner.
func (n *integer) Scan(column any) error {
	if column == nil {
		*n = integer{}
		return nil
	}
	value, ok := column.(int64)
	if !ok {
		return fmt.Errorf("a column holds %T, an integer is wanted", column)
	}
	*n = integer{value: value, there: true}
	return nil
}
