-- +goose Up
CREATE TABLE knowledge_bases (
    number     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- names the table chunks_<number>; never used again
    tenant     TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    definition JSONB            NOT NULL,                       -- engine.KnowledgeBase
    generation BIGINT           NOT NULL DEFAULT 0,             -- raised by every change of the chunks
    next_row   BIGINT           NOT NULL DEFAULT 1,             -- the row number of the next chunk
    chunks     BIGINT           NOT NULL DEFAULT 0,
    hidden     BIGINT           NOT NULL DEFAULT 0,             -- chunks that are not available
    vectors    BIGINT[]         NOT NULL,                       -- chunks with a vector, per vector field
    log_from   BIGINT           NOT NULL DEFAULT 0,             -- deletions after this generation are in the log
    epoch      BIGINT           NOT NULL DEFAULT 0,             -- raised to make stored keyword indexes unusable
    created_at TIMESTAMPTZ      NOT NULL DEFAULT now(),
    UNIQUE (tenant, id)
);

-- The log of deleted and replaced chunks, by which keyword indexes are kept current.
CREATE TABLE deleted_chunks (
    kb_id      BIGINT NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
    generation BIGINT NOT NULL,
    row        BIGINT NOT NULL,
    PRIMARY KEY (kb_id, generation, row)
);

-- Keyword indexes: one of all chunks up to a generation, and what was added to it since.
-- A knowledge base of questions and answers has one per text field.
CREATE TABLE bm25_indexes (
    kb_id      BIGINT      NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
    field      TEXT        NOT NULL,
    generation BIGINT      NOT NULL,
    index_data BYTEA       NOT NULL,
    doc_count  BIGINT      NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (kb_id, field)
);
ALTER TABLE bm25_indexes ALTER COLUMN index_data SET STORAGE EXTERNAL; -- it is compressed already

CREATE TABLE bm25_deltas (
    kb_id           BIGINT      NOT NULL,
    field           TEXT        NOT NULL,
    from_generation BIGINT      NOT NULL,
    generation      BIGINT      NOT NULL,
    index_data      BYTEA       NOT NULL,
    doc_count       BIGINT      NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (kb_id, field, from_generation),
    FOREIGN KEY (kb_id, field) REFERENCES bm25_indexes ON DELETE CASCADE
);
ALTER TABLE bm25_deltas ALTER COLUMN index_data SET STORAGE EXTERNAL;

-- +goose Down
DROP TABLE bm25_deltas, bm25_indexes, deleted_chunks, knowledge_bases;
