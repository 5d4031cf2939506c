-- What the columns mean is said in store.go, where they are written.
CREATE TABLE {schema}.payments (
    key         text COLLATE "C" PRIMARY KEY,
    account     text COLLATE "C" NOT NULL,
    digest      text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    work        smallint NOT NULL,
    due         timestamptz,
    turn        bigint NOT NULL,
    arrival     bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    lease_owner text,
    lease_epoch bigint NOT NULL,
    lease_until timestamptz,
    change_era  integer NOT NULL,
    change_tx   xid8 NOT NULL,
    change      bigint NOT NULL,
    data        bytea NOT NULL
) WITH (
    -- Room on each page for the next version of a row: a lease then changes no index. A table that is a queue needs
    -- its dead rows removed soon.
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);

CREATE SEQUENCE {schema}.changes AS bigint OWNED BY {schema}.payments.change CACHE 1;

-- The highest turn that was claimed. A sequence, because its value is in no transaction: no insert waits for it.
CREATE SEQUENCE {schema}.turns AS bigint;

-- Finished payments are in neither of the first two.
CREATE INDEX payments_due ON {schema}.payments (work, due, key) WHERE work > 0;
CREATE INDEX payments_turn ON {schema}.payments (turn, arrival) WHERE work = 1;
CREATE INDEX payments_account_turn ON {schema}.payments (account, turn);
CREATE UNIQUE INDEX payments_change ON {schema}.payments (change_era, change_tx, change);
CREATE INDEX payments_state ON {schema}.payments (state, key);
CREATE INDEX payments_account_state ON {schema}.payments (account, state, key);

COMMENT ON TABLE {schema}.payments IS
    'Payments of moneymovement-go. Only its module payments/postgres writes here. convert_from(data, ''UTF8'') is JSON.';
