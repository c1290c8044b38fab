-- +goose Up
-- Chunks have checksums: see addChecksums, which gives each table the column.
UPDATE store SET schema = 4;

-- Whether the write-ahead log was lost: see type mark.
ALTER TABLE store ADD COLUMN commits INTEGER NOT NULL DEFAULT 0; -- transactions so far
ALTER TABLE store ADD COLUMN opening TEXT NOT NULL DEFAULT '';   -- a random text of the last start

-- +goose Down
ALTER TABLE store DROP COLUMN opening;
ALTER TABLE store DROP COLUMN commits;
UPDATE store SET schema = 3;
