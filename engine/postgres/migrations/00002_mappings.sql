-- +goose Up
-- What changes the shape of a chunk table: plans, and their migrations with a
-- revision for compare-and-set. Those that ended are the history.
CREATE TABLE mapping_plans (
    kb_id BIGINT  NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
    id    TEXT    NOT NULL,
    taken BOOLEAN NOT NULL DEFAULT FALSE,
    plan  JSONB   NOT NULL, -- engine.MappingPlan
    PRIMARY KEY (kb_id, id)
);
CREATE TABLE mapping_migrations (
    kb_id       BIGINT      NOT NULL REFERENCES knowledge_bases ON DELETE CASCADE,
    id          TEXT        NOT NULL,
    revision    BIGINT      NOT NULL DEFAULT 1,
    record      JSONB       NOT NULL, -- engine.Migration, and what the API does not show of it
    finished_at TIMESTAMPTZ,
    PRIMARY KEY (kb_id, id)
);
CREATE UNIQUE INDEX mapping_migrations_active ON mapping_migrations (kb_id) WHERE finished_at IS NULL;

-- +goose Down
DROP TABLE mapping_migrations, mapping_plans;
