-- +goose Up
-- What evaluations keep: see engine.RecordKeeper. Of two texts the one with the lesser bytes is first.
CREATE TABLE records (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- of one that was deleted it is never used again
    tenant     TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,                  -- microseconds since 1970
    updated_at INTEGER NOT NULL,
    head       TEXT    NOT NULL,                  -- JSON
    UNIQUE (tenant, kind, id)
);
CREATE TABLE record_items (
    records INTEGER NOT NULL REFERENCES records (number) ON DELETE CASCADE,
    key     TEXT    NOT NULL,
    body    TEXT    NOT NULL,                     -- JSON
    PRIMARY KEY (records, key)
);
UPDATE store SET schema = 7;

-- +goose Down
DROP TABLE record_items;
DROP TABLE records;
UPDATE store SET schema = 6;
