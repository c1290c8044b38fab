-- +goose Up
-- The BM25 indexes are files of their own: damage to one of them must not reach the chunks.
DROP TABLE bm25_indexes;

-- +goose Down
CREATE TABLE bm25_indexes (
    knowledge_base INTEGER NOT NULL REFERENCES knowledge_bases (number) ON DELETE CASCADE,
    field          TEXT    NOT NULL,
    generation     INTEGER NOT NULL,
    data           BLOB    NOT NULL,
    PRIMARY KEY (knowledge_base, field)
);
