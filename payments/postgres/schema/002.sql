-- A program leaves out rows that need a later version of records than it knows: payments.RecordVersion. Programs of
-- revision 1 know none of these columns, and write none of them.
ALTER TABLE {schema}.payments ADD COLUMN needs integer NOT NULL DEFAULT 0;
ALTER TABLE {schema}.payments_schema ADD COLUMN revision integer NOT NULL DEFAULT 1;
