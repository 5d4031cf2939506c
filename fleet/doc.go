// Package fleet shares the rate windows and the session of one credential between any number of processes.
//
// The service counts calls for each credential, over all processes. A client keeps within the windows by itself, but
// it does not know about other processes. A [Limiter] asks a store that all processes use. The packages fleet/redis
// and payments/postgres/fleetpostgres have such stores, and a token store with which the whole fleet logs in once:
//
//	client := redis.NewClient(&redis.Options{Addr: address})
//	credential := developer.Credential(baseURL)
//	developer.Store, err = fleetredis.NewTokenStore(client, credential, fleetredis.WithEncryption(key))
//	limiter, err := fleetredis.NewLimiter(client, credential)
//	...
//	platform, err := dapi.NewIntegrator(baseURL, developer,
//		moneymovement.WithRateLimiter(limiter), moneymovement.WithRateShare(processes))
//
// With [moneymovement.WithRateLimiter], WithRateShare bounds the payments that each process has between booking and
// confirm, and nothing else.
//
// # What holds
//
// In any period of [moneymovement.Allowance.Span], all processes together make at most as many calls as the window
// allows, by the clock of the store. Clocks of processes do not matter. A call counts for longer than the window lasts:
// one second longer for a window of a minute. A process uses a slot within half of this extra time, and returns a slot
// that it received too late.
//
// A full window is used in full: tests with 8 and 16 processes use at least 98 %. The store gets at most about one
// request for each call. While calls wait, each response says when to ask again.
//
// # What holds approximately
//
// The order of the calls. Within a process, it is that of the client's own limiter: refreshes, confirms in the order in
// which their approvals expire, other calls, polls, and a tenth for each class that waits. Between processes, a class
// that goes first gets the slots first, processes of one class take turns, and a class that waits gets about a tenth. A
// slot is granted up to a quarter of a second before its time, and a call that comes in between does not get it. A
// process does not know when the approvals of other processes expire.
//
// The windows of an hour and of five minutes hold up to a limit: as with the client's own limiter, the first call of
// a process goes after 65 seconds, and the service decides. The window of the login calls is counted for the
// credential, and not for the address.
//
// # When the store is unavailable
//
// By default, calls wait for the store for a moment ([WithPatience]), and then fail with *[StoreUnavailable]. Nothing
// was sent, so the same call can be made again. With [WithShareWhileUnavailable], each process continues with its part
// of the window. In both cases each process sends one request at a time, at random times, so that not all ask at once
// when the store is back.
//
// The store can lose a window, as in a failover of Redis, or in a crash of PostgreSQL, whose table of windows is
// unlogged. Each process then reports its calls that still count, and for a while no slot is granted, so that all can
// do so. Calls of a process that is late are not counted. So in the worst case, one window more can go through. The
// service then refuses calls with 429, and the SDK waits and sends them again.
//
// # Another store
//
// Implement [Windows]. The code of [Memory] shows what a [Request] does, step by step.
package fleet
