-- +goose Up
-- What was taken and is not stored yet: batches, in the order in which they came.
CREATE TABLE spool (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
    tenant TEXT    NOT NULL,
    day    TEXT    NOT NULL, -- of the queries, as 2026-11-28, UTC
    items  INTEGER NOT NULL, -- that the body has
    body   BLOB    NOT NULL  -- keys and bodies, see batch.go
);

-- The key of the hashes of questions.
CREATE TABLE secret (
    key BLOB NOT NULL
);

-- Which programs may use the file: see lib/schema.
CREATE TABLE store (
    schema     INTEGER NOT NULL, -- the number of the last migration
    min_reader INTEGER NOT NULL  -- the oldest schema whose programs may read and write
);
INSERT INTO store (schema, min_reader) VALUES (1, 1);

-- +goose Down
DROP TABLE store;
DROP TABLE secret;
DROP TABLE spool;
