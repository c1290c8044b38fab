-- +goose Up
-- One row a tenant: what it wrote on its last day.
CREATE TABLE tenant_usage (
    tenant TEXT   PRIMARY KEY,
    day    TEXT   NOT NULL, -- as 2006-01-02, UTC
    bytes  BIGINT NOT NULL
);
UPDATE store SET schema = 5;

-- +goose Down
DROP TABLE tenant_usage;
UPDATE store SET schema = 4;
