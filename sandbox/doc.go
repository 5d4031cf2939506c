// Package sandbox is a host of the money-movement service for tests and first steps. [Host] is an [http.Handler] that
// behaves as the service's description says. It runs in the test's process, and needs no account and no network.
//
// # What is here
//
//   - [New] makes a host, with options such as [WithInstantProgress], [WithSettings], [WithClock] and [WithHosts].
//   - [Host.Credentials] has what the first account logs in with: a developer key, an app key, an access token and a
//     wallet for cards. [Host.RegisterKey] and [Host.RegisterAppKey] make further keys.
//   - [Host.Advance] moves the host's clock: a session of sixty days ends in one call.
//   - [Host.Arm] scripts a fault, such as [DropAfterCommit], a response that is lost after the money moved.
//     [Host.Intercept] lets a function decide about a fault for each request.
//   - [Host.Configure] changes the [Settings]: limits, durations and failures that the operator of the service or one
//     of its partners decides about.
//   - [Host.Ledger] returns the double-entry ledger: what the calls of a test did to the money.
//   - [Host.Requests] returns the requests that arrived, and [WithRequestObserver] calls a function with each.
//     [Host.PartnerEvents] and [Host.WalletLogins] return what two of the reference endpoints received.
//   - [Host.Audit] returns how often money moved for each idempotency key, with [WithAudit].
//   - [Host.Reset] goes back to the start. [WithControl] serves all of this over HTTP.
//
// The words of the service (client, rail, payout, slug and others) are explained in the glossary:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
//
// What to test, also from a shell and from other languages:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/flows/sandbox-testing.md
//
// # How to test your backend
//
// Serve the host, point a client of the SDK at it, run your code, and read the ledger:
//
//	func TestPaysAnInvoice(t *testing.T) {
//		host := sandbox.New(sandbox.WithInstantProgress())
//		server := httptest.NewServer(host)
//		defer server.Close()
//		platform, err := dapi.NewIntegrator(server.URL,
//			dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key})
//		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
//		acme := platform.For(client.ID)
//		_, err = acme.Sandbox.Deposit(t.Context(),
//			dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
//
//		lost := host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
//		err = yourbackend.PayInvoice(t.Context(), acme, "42") // pays 12.50 USDC
//
//		left := host.Ledger().Balances[string(client.ID)]["USDC"]
//		if lost.Consumed() != 1 || left.String() != "37.5" { // the fault happened, and the client paid once
//			t.Error(lost.Consumed(), left, err)
//		}
//	}
//
// The example of this package is the whole program, and the folder examples/payments has a backend with such tests.
//
// With [WithInstantProgress], clients, rails, cards and verifications are ready when they are next read, and payouts
// complete. To test what your code does while a resource is pending, set how long it stays pending, and call
// [Host.Advance] to end that:
//
//	host.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
//	// ... the payout is in funding
//	host.Advance(2 * time.Hour) // ... and now it is completed
//
// A wait of the SDK that is under way sees this at its next read. The pauses between reads are up to 500 ms at first,
// and grow; the client option moneymovement.WithPolling makes them shorter.
//
// # What the host serves
//
// The host serves every operation of the four surfaces, each with its own credential: the platform API under /dapi/v1,
// the app API on its short paths such as /user, the reference endpoints under /api/v1, and the public utilities under
// /utils and /public. For any other path it returns 404 not_found.
//
// The app API acts for the integrator's own account, the one that the platform API uses without X-Service-Account.
// Money that is deposited there can be spent through the app API.
//
// You can make the host return every slug that the service's description lists. The file SLUGS.md in this folder says
// how. The host counts requests against the rate windows only with [WithRateLimits].
//
// # Bounds
//
// A request that arrives on a loopback address must name localhost, a loopback address or a name of [WithHosts] in its
// Host header. The host does not read the body of a request without valid credentials. A caller has one minute to send
// a body and one minute to receive the response, unless the [http.Server] has its own timeouts.
//
// The host keeps at most [deployment.Settings.MaxRecords] records. It then refuses every request that would add a
// record with 409 conflict. If your program makes millions of payouts, set [deployment.Settings.ForgetFinishedAfter].
//
// # Controls over HTTP
//
// With [WithControl] the host serves its controls under /_host, for tests in any language, and a page for people at
// /_console. Only callers on the same machine can use them. Bodies are JSON; a refused call has the service's error
// body. GET /_host lists every control with an example, and GET /_host/openapi.yaml describes them as OpenAPI 3.0.3:
// the file control.yaml of this folder. Some of them:
//
//	curl http://127.0.0.1:8080/_host/credentials
//	curl -X POST http://127.0.0.1:8080/_host/credits -d '{"account":"self","amount":"50"}'
//	curl -X POST http://127.0.0.1:8080/_host/clock -d '{"advance":"61s"}'
//	curl -X POST http://127.0.0.1:8080/_host/faults \
//	  -d '{"method":"POST","path":"/payouts/{payoutId}/confirm","fault":{"kind":"drop_after_commit"}}'
//
// With controls, the host also keeps the headers and bodies of the latest 1,000 requests, for GET /_host/requests/{id}.
// It shows them without secrets.
package sandbox
