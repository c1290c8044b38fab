-- +goose Up
CREATE TABLE knowledge_bases (
    number     INTEGER PRIMARY KEY AUTOINCREMENT, -- names the table of its chunks
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    definition TEXT    NOT NULL,                  -- engine.KnowledgeBase as JSON
    generation INTEGER NOT NULL DEFAULT 0,        -- raised by every change of its chunks
    UNIQUE (tenant, id)
);

-- A cache: checked when it is read, rebuilt from the chunks when it is damaged.
CREATE TABLE bm25_indexes (
    knowledge_base INTEGER NOT NULL REFERENCES knowledge_bases (number) ON DELETE CASCADE,
    field          TEXT    NOT NULL,
    generation     INTEGER NOT NULL,
    data           BLOB    NOT NULL,
    PRIMARY KEY (knowledge_base, field)
);

-- +goose Down
DROP TABLE bm25_indexes;
DROP TABLE knowledge_bases;
