-- +goose Up
-- The table of a knowledge base is made by its first write: SQLite reads its whole schema for every
-- new table, so each took longer than the one before. Older programs look for it at once.
UPDATE store SET schema = 5, min_reader = 5;

-- +goose Down
UPDATE store SET schema = 4, min_reader = 2;
