package soak_test

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// leaseLog notes each change of a lease in the database itself, which also sees what a worker commits as it dies.
const leaseLog = `CREATE TABLE lease_log (key text NOT NULL, worker text NOT NULL, at timestamptz NOT NULL);
CREATE FUNCTION note_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO lease_log VALUES (NEW.key, coalesce(NEW.lease_owner, ''), clock_timestamp());
	RETURN NULL;
END $$;
CREATE TRIGGER note_lease AFTER UPDATE ON {schema}.payments FOR EACH ROW
	WHEN (OLD.lease_owner IS DISTINCT FROM NEW.lease_owner) EXECUTE FUNCTION note_lease()`

// noteLeases begins the log of leases.
func (w *world) noteLeases() {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), strings.ReplaceAll(leaseLog, "{schema}", postgres.DefaultSchema))
	require.NoError(w, err)
}

// leases adds the log of leases to what happened to the payments.
func (w *world) leases(all map[string][]event) {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), "SELECT key, worker, at FROM lease_log")
	require.NoError(w, err)
	defer rows.Close()
	for rows.Next() {
		var key, worker string
		var at time.Time
		require.NoError(w, rows.Scan(&key, &worker, &at))
		all[key] = append(all[key], event{at: at, worker: worker})
	}
	require.NoError(w, rows.Err())
}

// leased returns how many payments a worker has.
func (w *world) leased(worker string) (payments int) {
	w.Helper()
	require.NoError(w, w.pool.QueryRow(w.Context(),
		"SELECT count(*) FROM "+postgres.DefaultSchema+".payments WHERE lease_owner = $1", worker).Scan(&payments))
	return payments
}
