package sandbox

import (
	"net/http"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/console"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// controlRoute is a control as control.yaml describes it, by its method and path.
type controlRoute struct{ Method, Path string }

func (r controlRoute) String() string { return r.Method + " " + r.Path }

// routes are the controls of control.yaml. A test holds both lists equal.
func (c control) routes() map[controlRoute]http.Handler {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	return map[controlRoute]http.Handler{
		{get, "/_host"}:              respondWith(readIndex),
		{get, "/_host/openapi.yaml"}: http.HandlerFunc(readDescription),
		{get, "/_host/credentials"}:  http.HandlerFunc(c.readCredentials),
		{get, "/_host/operations"}:   respondWith(c.listOperations),
		{get, "/_host/slugs"}:        respondWith(c.listSlugs),
		{post, "/_host/reset"}:       c.changing(c.reset),

		{get, "/_host/clock"}:             respondWith(c.readClock),
		{post, "/_host/clock"}:            c.changing(c.moveClock),
		{get, "/_host/settings"}:          respondWith(c.readSettings),
		{put, "/_host/settings"}:          c.changing(c.changeSettings),
		{get, "/_host/settings/start"}:    respondWith(c.readSettingsOfStart),
		{get, "/_host/settings/meanings"}: respondWith(listMeanings),
		{get, "/_host/windows"}:           respondWith(c.listWindows),

		{get, "/_host/accounts"}:              respondWith(c.listAccounts),
		{post, "/_host/credits"}:              c.changing(c.ifRoom(c.credit)),
		{get, "/_host/payouts"}:               respondWith(c.listPayouts),
		{post, "/_host/payouts"}:              c.changing(c.ifRoom(c.sendPayout)),
		{post, "/_host/payouts/{id}"}:         c.changing(c.ifRoom(c.movePayout)),
		{get, "/_host/payins"}:                respondWith(c.listPayins),
		{post, "/_host/payins/{id}"}:          c.changing(c.ifRoom(c.movePayin)),
		{get, "/_host/verifications"}:         respondWith(c.listVerifications),
		{post, "/_host/verifications/{id}"}:   c.changing(c.decideVerification),
		{get, "/_host/escrows"}:               respondWith(c.listEscrows),
		{get, "/_host/ledger"}:                respondWith(c.readLedger),
		{get, "/_host/audit"}:                 respondWith(c.readAudit),
		{get, "/_host/audit/{account}/{key}"}: respondWith(c.readAuditOf),

		{get, "/_host/requests"}:      respondWith(c.listRequests),
		{get, "/_host/requests/{id}"}: respondWith(c.readRequest),
		{get, "/_host/events"}:        http.HandlerFunc(c.listen),

		{get, "/_host/faults"}:      respondWith(c.listFaults),
		{post, "/_host/faults"}:     c.changing(c.ifRoom(c.armFault)),
		{del, "/_host/faults"}:      c.changing(c.disarmFaults),
		{del, "/_host/faults/{id}"}: c.changing(c.disarmFault),

		{get, "/_host/keys"}:          respondWith(c.listKeys),
		{post, "/_host/keys"}:         c.changing(c.ifRoom(c.registerKey)),
		{del, "/_host/keys/{id}"}:     c.changing(c.deleteKey),
		{get, "/_host/app-keys"}:      respondWith(c.listAppKeys),
		{post, "/_host/app-keys"}:     c.changing(c.ifRoom(c.registerAppKey)),
		{del, "/_host/app-keys/{id}"}: c.changing(c.deleteAppKey),
	}
}

// mux serves the controls and the page for people.
func (c control) mux() http.Handler {
	mux := http.NewServeMux()
	for route, handler := range c.routes() {
		mux.Handle(route.String(), handler)
	}
	mux.Handle("GET "+controlBase+"/{$}", respondWith(readIndex))
	mux.Handle("GET "+consolePath, console.Handler())
	mux.HandleFunc("/", respondWith(func(*http.Request) (int, any, error) {
		refusal := wire.NotFound()
		refusal.Message = "There is no such control; GET /_host lists them."
		return 0, nil, refusal
	}))
	return mux
}

// changing responds with what a call returns, and makes the listeners look for changes.
func (c control) changing(call controlCall) http.Handler {
	respond := respondWith(call)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond(w, r)
		c.host.log.Wake()
	})
}
