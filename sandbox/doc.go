// Package sandbox is a host of the service for tests and first steps: an
// [http.Handler] that behaves as the service description says, on a fresh
// machine and without an account.
//
//	host := sandbox.New()
//	server := httptest.NewServer(host)
//	defer server.Close()
//	credentials := host.Credentials() // a developer key that logs in, an app key, an access token, a card wallet
//
// Behind it is a state machine with a double-entry ledger that always sums to
// zero, so a test can look at what its calls did to the money ([Host.Ledger]).
// Time is the machine's plus what the test advances ([Host.Advance]): a lifetime
// of sixty days passes in one call. What a deployment or a partner would decide
// is a setting ([Host.Configure]). What goes wrong on the way is scripted
// ([Host.Arm]): an answer lost after the operation ran, an expired token, a
// proxy's HTML page. What arrived is remembered ([Host.Requests]).
//
// The host answers every operation of every surface, each with its own credential:
// the platform API under /dapi/v1, the app API on its short paths, the reference
// endpoints under /api/v1, and the public utilities. Any other path is 404
// not_found. An app acts for the account that the platform API calls oneself: what
// is credited there is spent here. App keys carry scopes and a spend limit
// ([Host.RegisterAppKey]). Every slug that the description lists can be provoked;
// SLUGS.md next to this file says how.
//
// Rate windows are counted only if asked for, so that a busy test is not slowed
// down: set [deployment.Settings.RateLimits], or pass [WithRateLimits].
//
// The host is bounded where strangers are concerned. What arrives on a loopback
// address is to ask for localhost, a loopback address, or a name of [WithHosts]. A
// caller without credentials has nothing of its body read. A caller has a minute
// to send a body and a minute to take an answer in, unless the [http.Server] has
// timeouts of its own. What callers can make it keep is bounded by
// [deployment.Settings.MaxRecords]; what would add to that is then 409 conflict, and the
// message names the setting. A rig that makes payouts by the million lets
// [deployment.Settings.ForgetFinishedAfter] forget those that are over.
//
// The same controls are served over HTTP under /_host to tests in any language,
// if asked for with [WithControl], and then only to the machine itself.
package sandbox
