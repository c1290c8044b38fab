-- +goose Up
-- One row a key, also of those revoked: that there was ever one keeps strangers out.
CREATE TABLE api_keys (
    name      TEXT   PRIMARY KEY,
    record    TEXT   NOT NULL, -- keys.Record as JSON, compared as a text
    last_used BIGINT NOT NULL DEFAULT 0 -- Unix seconds
);
UPDATE store SET schema = 4;

-- +goose Down
DROP TABLE api_keys;
