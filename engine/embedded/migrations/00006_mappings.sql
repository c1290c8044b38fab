-- +goose Up
-- Plans for another shape of a knowledge base, and their migrations. The shape that is not in use
-- has a table of chunks with a number of its own, which no line of knowledge_bases has.
CREATE TABLE mapping_plans (
    tenant  TEXT    NOT NULL,
    kb      TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    body    TEXT    NOT NULL,              -- engine.MappingPlan as JSON
    taken   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, kb, id)
);
CREATE TABLE mapping_migrations (
    tenant   TEXT    NOT NULL,
    kb       TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    record   TEXT    NOT NULL,             -- see engine.EncodeMigration
    revision INTEGER NOT NULL DEFAULT 1,
    finished INTEGER,                      -- milliseconds since 1970; NULL: under way
    PRIMARY KEY (tenant, kb, id)
);
CREATE UNIQUE INDEX mapping_under_way ON mapping_migrations (tenant, kb) WHERE finished IS NULL;
UPDATE store SET schema = 6;

-- +goose Down
DROP TABLE mapping_migrations;
DROP TABLE mapping_plans;
UPDATE store SET schema = 5;
