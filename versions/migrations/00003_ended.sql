-- +goose Up
-- Deleted sets, by their last version: the next of the name goes on from there, so that an edit of
-- what is gone is never taken for one of what came after.
CREATE TABLE ended (
    tenant  TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
);
UPDATE store SET schema = 3;

-- +goose Down
DROP TABLE ended;
UPDATE store SET schema = 2;
