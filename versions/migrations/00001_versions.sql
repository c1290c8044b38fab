-- +goose Up
CREATE TABLE versions (
    tenant     TEXT    NOT NULL,
    name       TEXT    NOT NULL, -- a knowledge base, or global
    version    INTEGER NOT NULL, -- from 1; the highest is in use
    text       TEXT    NOT NULL,
    rules      INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    comment    TEXT    NOT NULL,
    created_at INTEGER NOT NULL, -- Unix time in ms
    PRIMARY KEY (tenant, name, version)
);

-- +goose Down
DROP TABLE versions;
