-- +goose Up
-- One row a tenant: what it wrote on its last day.
CREATE TABLE tenant_usage (
    tenant TEXT    PRIMARY KEY,
    day    TEXT    NOT NULL, -- as 2006-01-02, UTC
    bytes  INTEGER NOT NULL
);
-- Which programs may use the store: see lib/schema.
CREATE TABLE store (
    schema     INTEGER NOT NULL,
    min_reader INTEGER NOT NULL
);
INSERT INTO store (schema, min_reader) VALUES (1, 1);

-- +goose Down
DROP TABLE store;
DROP TABLE tenant_usage;
