-- When the copy was made from which the tables were restored: see Store.MarkRestored.
ALTER TABLE {schema}.payments_schema ADD COLUMN restored_from timestamptz;
