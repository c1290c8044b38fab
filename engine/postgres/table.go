package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/lib/vector"
	"github.com/hybridge-search/hybridge/scoring"
)

// table is the SQL of one knowledge base's chunks. Its name is generated, and its vector
// columns are checked by engine.KnowledgeBase.CheckVectorFields.
type table struct {
	number  int64
	name    string
	dims    int
	half    bool     // vectors are stored in half precision
	vectors []string // a column per vector field
}

func tableOf(number int64, kb *engine.KnowledgeBase) table {
	name := fmt.Sprintf("chunks_%d", number)
	if kb.Generation > 0 {
		name += fmt.Sprintf("_v%d", kb.Generation)
	}
	return table{
		number: number, name: name,
		dims: kb.Dimensions, half: kb.VectorIndex == indexHalf, vectors: kb.FieldsOf(scoring.Vector),
	}
}

// columnType is the type of the vectors.
func (t *table) columnType() string {
	if t.half {
		return fmt.Sprintf("halfvec(%d)", t.dims)
	}
	return fmt.Sprintf("vector(%d)", t.dims)
}

// read is a column of vectors in full precision.
func (t *table) read(column string) string {
	if t.half {
		return column + "::vector"
	}
	return column
}

// value encodes a vector for the column.
func (t *table) value(v []float32) any {
	if t.half {
		return pgvector.NewHalfVector(v)
	}
	return pgvector.NewVector(v)
}

// unit scales a vector to length 1. Vectors already in half precision are left unchanged, as each rounding
// would change the length again.
func (t *table) unit(v []float32) []float32 {
	if t.half && len(v) > 0 && !slices.ContainsFunc(v, func(x float32) bool { return !isHalf(x) }) {
		if square := vector.Dot(v, v); square > 1-halfRounding && square < 1+halfRounding {
			return v
		}
	}
	return vector.Unit(v)
}

const (
	halfRounding = 1.0 / (1 << 10) // error of the squared length after rounding the components
	smallestHalf = 1.0 / (1 << 14) // smallest with all 11 bits; below, the step is constant
	halfStep     = 1.0 / (1 << 24)
)

// isHalf reports whether a number is exact in half precision.
func isHalf(x float32) bool {
	if size := math.Abs(float64(x)); size < smallestHalf {
		return math.Trunc(size/halfStep) == size/halfStep
	}
	return math.Float32bits(x)&(1<<13-1) == 0
}

// definition creates the table. Vectors are unit vectors. STORAGE MAIN keeps them in the
// row, so that an exact scan avoids TOAST; body, needed only for the hits of a page, is
// moved out instead. lot orders a fixed random sample.
func (t *table) definition() []string {
	columns := ""
	for _, v := range t.vectors {
		columns += fmt.Sprintf(",\n\t%s %s STORAGE MAIN", v, t.columnType())
	}
	statements := []string{
		fmt.Sprintf(`CREATE TABLE %[1]s (
	row           BIGINT PRIMARY KEY,
	generation    BIGINT NOT NULL,
	id            TEXT COLLATE "C" NOT NULL UNIQUE,
	document_id   TEXT COLLATE "C" NOT NULL,
	document_name TEXT    NOT NULL,
	ordinal       BIGINT  NOT NULL,
	available     BOOLEAN NOT NULL,
	lot           BIGINT  NOT NULL,
	metadata      JSONB   NOT NULL, -- what filters and facets see: a list of values per field
	body          BYTEA   NOT NULL  -- engine.Chunk as JSON
	%[2]s)`, t.name, columns),
		fmt.Sprintf(`CREATE INDEX %[1]s_generation ON %[1]s (generation, row)`, t.name),
		fmt.Sprintf(`CREATE INDEX %[1]s_document ON %[1]s (document_id, ordinal, id)`, t.name),
		fmt.Sprintf(`CREATE INDEX %[1]s_metadata ON %[1]s USING gin (metadata)`, t.name),
	}
	for _, v := range t.vectors {
		statements = append(statements,
			fmt.Sprintf(`CREATE INDEX %[1]s_%[2]s_lot ON %[1]s (lot) WHERE %[2]s IS NOT NULL`, t.name, v))
	}
	return statements
}

// bare counts the rows of a group without a vector; 0 if there are no vector fields.
func (t *table) bare() string {
	if len(t.vectors) == 0 {
		return "0"
	}
	return "COUNT(*) FILTER (WHERE " + strings.Join(t.vectors, " IS NULL AND ") + " IS NULL)"
}

func (t *table) create(ctx context.Context, tx pgx.Tx) error {
	for _, statement := range t.definition() {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) drop(ctx context.Context, tx pgx.Tx) error {
	var all []string // with those of a migration
	err := tx.QueryRow(ctx, `SELECT ARRAY(SELECT relname::TEXT FROM pg_class WHERE relkind = 'r'
		AND relnamespace = to_regnamespace(current_schema()::TEXT) AND relname ~ $1)`,
		fmt.Sprintf("^chunks_%d(_v[0-9]+)?(_kept)?$", t.number)).Scan(&all)
	if err != nil || len(all) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, "DROP TABLE "+strings.Join(all, ", "))
	return err
}

// columns lists the columns that COPY fills, in the order of prepared.values.
func (t *table) columns() []string {
	return append([]string{
		"row", "generation", "id", "document_id", "document_name", "ordinal", "available", "lot", "metadata", "body",
	}, t.vectors...)
}

// removal deletes the rows selected by the condition, logs them as deleted by generation
// $1, and returns each id with the decrements of the counters.
func (t *table) removal(condition string) string {
	present := make([]string, len(t.vectors))
	for i, v := range t.vectors {
		present[i] = v + " IS NOT NULL"
	}
	return fmt.Sprintf(`WITH gone AS (
	DELETE FROM %s WHERE %s RETURNING row, id, available, ARRAY[%s]::BOOLEAN[] AS present
), logged AS (
	INSERT INTO deleted_chunks (kb_id, generation, row) SELECT %d, $1, row FROM gone
)
SELECT id, available, present FROM gone`, t.name, condition, strings.Join(present, ", "), t.number)
}

// maxIndexed and maxIndexedHalf are the largest dimensions of HNSW for vector and halfvec.
const (
	maxIndexed     = 2000
	maxIndexedHalf = 4000
)

func (t *table) indexable() bool { return t.dims > 0 && t.dims <= maxIndexedHalf }

// halved reports whether the index holds vectors in half precision.
func (t *table) halved() bool { return t.half || t.dims > maxIndexed }

// indexed is the expression covered by the vector index of a column.
func (t *table) indexed(column string) string {
	if t.halved() && !t.half {
		return fmt.Sprintf("(%s::halfvec(%d))", column, t.dims)
	}
	return column
}

func (t *table) indexName(column string) string { return t.name + "_" + column + "_hnsw" }

// indexDefinition creates a vector index without blocking writers.
func (t *table) indexDefinition(column string) string {
	operators := "vector_cosine_ops"
	if t.halved() {
		operators = "halfvec_cosine_ops"
	}
	return fmt.Sprintf("CREATE INDEX CONCURRENTLY %s ON %s USING hnsw (%s %s)",
		t.indexName(column), t.name, t.indexed(column), operators)
}
