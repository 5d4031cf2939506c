// Package fleetredis shares the session and the rate windows of one credential between any number of processes, over
// a Redis server. See package fleet for what holds, and what holds approximately.
//
// [NewTokenStore] is for [dapi.Developer].Store: one process logs in or refreshes the token while it holds a lock,
// and the others take the session from the server. The lock ends by itself if its owner dies. [NewLimiter] is for
// moneymovement.WithRateLimiter: one script reserves slots of a window, by the server's clock.
//
// # The server
//
// Redis 5 or later, or Valkey, alone, with sentinels or as a cluster: each window and each session is one key, and
// its name has a hash tag. The user needs the commands get, set, del, exists, type, time and the scripts. The keys
// are those of a credential, such as moneymovement:window:{credential:writes} and
// moneymovement:session:{credential}. They end by themselves. A value of another program under such a key is refused
// for a window, and replaced for a session.
//
// The windows need no persistence. If a failover loses the last changes, some calls are counted twice, or not at all:
// up to one window more can go through, and the SDK waits and sends a call again that the service refused with 429.
// If the session is lost, the fleet logs in once more.
//
// A session on the server is as secret as a password: use TLS, access rules, and [WithEncryption].
package fleetredis
