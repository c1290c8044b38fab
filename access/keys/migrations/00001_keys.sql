-- +goose Up
-- One row a key, also of those revoked: that there was ever one keeps strangers out.
CREATE TABLE api_keys (
    name      TEXT PRIMARY KEY,
    record    TEXT NOT NULL, -- keys.Record as JSON
    last_used INTEGER NOT NULL DEFAULT 0 -- Unix seconds
);
-- Which programs may use the store: see lib/schema.
CREATE TABLE store (
    schema     INTEGER NOT NULL,
    min_reader INTEGER NOT NULL
);
INSERT INTO store (schema, min_reader) VALUES (1, 1);

-- +goose Down
DROP TABLE store;
DROP TABLE api_keys;
