package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// The driver's error has a line for each address that it has tried.
func TestTheErrorOfADatabaseThatIsAwayHasOneLine(t *testing.T) {
	away := connect(t, "postgres://someone:hidden@127.0.0.1:1/payments") // no program listens on port 1
	_, err := postgres.Open(t.Context(), away, postgres.Options{})
	var unreachable *postgres.Unreachable
	require.ErrorAs(t, err, &unreachable)
	assert.NotContains(t, err.Error(), "\n")
	assert.NotContains(t, err.Error(), "hidden")
}

func TestJobsWithoutTheTablesOfRiver(t *testing.T) {
	pool := pool(t)
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	store, err := postgres.Open(t.Context(), pool, postgres.Options{Jobs: &postgres.Jobs{}})
	require.NoError(t, err)
	require.ErrorContains(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := store.SubmitTx(t.Context(), tx, payment("a"))
		return err
	}), "run River's migrations, for example with postgres.MigrateRiver")
}

func TestJobsWithAPriorityThatRiverDoesNotHave(t *testing.T) {
	pool := pool(t)
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	for _, priority := range []int{-1, 5} {
		_, err := postgres.Open(t.Context(), pool, postgres.Options{Jobs: &postgres.Jobs{Priority: priority}})
		require.ErrorContains(t, err, "use 1 to 4", "%d", priority)
	}
}

func TestTablesOfRiverInASchemaThatIsMissing(t *testing.T) {
	require.ErrorContains(t, postgres.MigrateRiver(t.Context(), pool(t), "missing"),
		"create the schema of River's tables first")
}
