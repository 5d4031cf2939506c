-- A program leaves out rows that need a later version of records than it knows: payments.RecordVersion. Programs of
-- revision 1 know none of these columns, and write none of them.
ALTER TABLE {schema}.payments ADD COLUMN needs integer NOT NULL DEFAULT 0;
ALTER TABLE {schema}.payments_schema ADD COLUMN revision integer NOT NULL DEFAULT 1;

-- What payments count against caps. The row without an asset is the lock of those who count.
CREATE TABLE IF NOT EXISTS {schema}.tallies (
    asset  text COLLATE "C" NOT NULL,
    payee  text COLLATE "C" NOT NULL,
    at     timestamptz NOT NULL,
    amount numeric NOT NULL,
    PRIMARY KEY (asset, payee, at)
);

COMMENT ON TABLE {schema}.tallies IS
    'What payments of moneymovement-go count against caps. Only its module payments/postgres writes here.';
