-- +goose Up
-- One row a key, also of those revoked: that there was ever one keeps strangers out.
CREATE TABLE api_keys (
    name      TEXT PRIMARY KEY,
    record    TEXT NOT NULL, -- keys.Record as JSON
    last_used INTEGER NOT NULL DEFAULT 0 -- Unix seconds
);

-- +goose Down
DROP TABLE api_keys;
