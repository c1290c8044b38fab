-- +goose Up
-- Which programs may use the store: see lib/schema.
CREATE TABLE store (
    schema     INTEGER NOT NULL, -- the number of the last migration
    min_reader INTEGER NOT NULL  -- the oldest schema whose programs may read and write
);
INSERT INTO store (schema, min_reader) VALUES (2, 1);

-- +goose Down
DROP TABLE store;
