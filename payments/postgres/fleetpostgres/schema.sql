-- The tables and the function of package fleetpostgres, in the schema whose name is put in. Every statement can run
-- again. The function's name ends with a number: another version gets another number, so that processes of both
-- versions can run at the same time.

CREATE TABLE IF NOT EXISTS {schema}.fleet_session (
  credential text PRIMARY KEY,
  session    bytea,                -- empty until the first login
  lock_owner text,
  lock_ends  timestamptz
);

-- A crash of the database empties an unlogged table. The processes notice that the log is another one, and say what they
-- have sent. In return, a question waits for no disk.
CREATE UNLOGGED TABLE IF NOT EXISTS {schema}.fleet_window (
  key       text PRIMARY KEY,
  log       text NOT NULL DEFAULT '',
  slots     bigint[] NOT NULL DEFAULT '{}', -- when each call stops counting, in order, in microseconds
  heard     bigint NOT NULL DEFAULT 0,
  settled   bigint NOT NULL DEFAULT 0,
  passed    integer[] NOT NULL DEFAULT '{0,0,0,0}',
  left_from bigint NOT NULL DEFAULT 0,
  processes text[] NOT NULL DEFAULT '{}',   -- those that wait, and in the same order:
  since     bigint[] NOT NULL DEFAULT '{}',
  comes     bigint[] NOT NULL DEFAULT '{}',
  pressed   boolean[] NOT NULL DEFAULT '{}',
  waiting   integer[] NOT NULL DEFAULT '{}', -- four numbers for each process
  ends      timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE INDEX IF NOT EXISTS fleet_window_ends ON {schema}.fleet_window (ends);
