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
