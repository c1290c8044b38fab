-- +goose Up
-- What an engine may lack or have too much of. The key is the debt; writing it
-- again renews it.
CREATE TABLE owed (
    tenant         TEXT    NOT NULL,
    knowledge_base TEXT    NOT NULL,
    engine         TEXT    NOT NULL, -- that may be behind
    kind           TEXT    NOT NULL, -- chunk or document
    id             TEXT    NOT NULL,
    source         TEXT    NOT NULL, -- engine to copy from
    attempts       INTEGER NOT NULL DEFAULT 0,
    due            INTEGER NOT NULL, -- Unix time in ms
    reason         TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, knowledge_base, engine, kind, id)
) WITHOUT ROWID;
CREATE INDEX owed_due ON owed (due);

-- +goose Down
DROP TABLE owed;
