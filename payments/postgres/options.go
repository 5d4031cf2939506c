package postgres

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// DefaultSchema is the name of the schema if none is chosen.
const DefaultSchema = "moneymovement"

// Options are the settings of a [Store]. The zero value has the defaults.
type Options struct {
	// Schema is the schema with the tables of the payments: see [Migrate]. The default is [DefaultSchema].
	Schema string
	// Jobs makes a job of River for each payment. Without it, a process finds the payments of others when it polls.
	Jobs *Jobs
}

// Jobs says which jobs of River a store makes. The zero value has the defaults.
type Jobs struct {
	// Schema is the schema with River's tables, as in river.Config. Empty is the first of the search path.
	Schema string
	// Queue is the queue of the jobs. The default is [DefaultQueue].
	Queue string
	// Priority is the priority of the jobs, 1 to 4. The default is River's.
	Priority int
	// Client inserts the jobs, with its hooks and its schema. The default is a client of the store's own that only
	// inserts. A client that works jobs is made after the store, because it needs the [Worker]: for this field, make
	// another one, without Workers and Queues.
	Client Inserter
}

// DefaultQueue is the queue of River's jobs if none is chosen.
const DefaultQueue = "payments"

// Inserter inserts jobs of River. A *river.Client[pgx.Tx] is one.
type Inserter interface {
	InsertTx(
		ctx context.Context, tx pgx.Tx, args river.JobArgs, options *river.InsertOpts,
	) (*rivertype.JobInsertResult, error)
}

// silent returns a logger for libraries that would otherwise write to standard output.
func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }
