-- +goose Up
-- In which order debts were noted: the newer of two in opposite directions is paid first.
ALTER TABLE owed ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX owed_noted ON owed (noted);
UPDATE store SET schema = 3;

-- +goose Down
DROP INDEX owed_noted;
ALTER TABLE owed DROP COLUMN noted;
UPDATE store SET schema = 2;
