// Package testkit is what tests of several modules share. It is in the module of the SDK, because no tagged module may
// require one that is not. Two packages stay apart, because programs link them: internal/inprocess and internal/shell.
// What needs the sandbox host is in internal/test/worlds, because this module must not require the host's.
//
// # Tiers
//
// `go test -short` leaves out the tests that take their time, start processes, or need more than Go: see [Long].
// `make test` does that, `make check` does not.
//
// MONEYMOVEMENT_REQUIRE lists what a run must have, with commas between: servers, browser, pages and hsm make what
// is missing a failure, which is a skip otherwise. soak gives the tests the sizes that they have before a release.
//
// # Every surface
//
// [Surface] calls every method on a client that no constructor made, and without a context: each call must be refused,
// and must not panic. A [Fault] makes a call fail: its error must name the call, and say whether money may have moved.
// [CountingKey] is a developer key that counts what it signs.
//
// # Every store of package fleet
//
// [SameAsMemory], [TokenStore] and [KilledStore] are the tests that each store must pass.
//
// # Servers
//
// [PostgreSQL] and [Redis] start real servers. Each test gets a server of its own: on a free loopback port, with a
// temporary folder and a random password, and never as root. The server ends with the test.
//
//	server := testkit.PostgreSQL(t)
//	pool, err := pgxpool.New(t.Context(), server.URL())
//
// Where a program is missing, the test is skipped with one line that says what to install. With
// MONEYMOVEMENT_REQUIRE=servers it fails instead, so that a machine that must run these tests cannot skip them. With
// -short it is always skipped.
//
// MONEYMOVEMENT_POSTGRES_URL and MONEYMOVEMENT_REDIS_URL name running servers to use instead. A test that kills its
// server is then skipped. MONEYMOVEMENT_POSTGRES_BIN names the folder of PostgreSQL's programs, if there are several.
//
// A program that is not a test starts a server with [StartPostgreSQL] or [StartRedis].
//
// Data is as durable as the server can make it: PostgreSQL runs with fsync, Redis writes its log before it responds.
//
// # Processes
//
// [StartProcess] runs a program that a test kills: a database server, or a program under test. A program ends with the
// process that started it, and a kill reaches its children, too.
package testkit
