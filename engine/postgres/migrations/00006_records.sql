-- +goose Up
-- What evaluations keep: see engine.RecordKeeper. The order of keys is that of their bytes.
CREATE TABLE records (
    number     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- of one that was deleted it is never used again
    tenant     TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    version    BIGINT           NOT NULL,
    created_at TIMESTAMPTZ      NOT NULL,
    updated_at TIMESTAMPTZ      NOT NULL,
    head       TEXT             NOT NULL, -- JSON, kept byte for byte
    UNIQUE (tenant, kind, id)
);
CREATE TABLE record_items (
    records BIGINT           NOT NULL REFERENCES records ON DELETE CASCADE,
    key     TEXT COLLATE "C" NOT NULL,
    body    TEXT             NOT NULL, -- JSON, kept byte for byte
    PRIMARY KEY (records, key)
);
UPDATE store SET schema = 6;

-- +goose Down
DROP TABLE record_items, records;
UPDATE store SET schema = 5;
