// Package console is a page for the people who operate payments: an [http.Handler] that lists the payments of a store,
// shows what happened to each, takes decisions, and reconciles. Mount it behind the login of your company:
//
//	page, err := console.New(console.Config{
//		Processor: processor,
//		Author:    func(r *http.Request) (string, error) { return session.UserOf(r) },
//	})
//	mux.Handle("/ops/payments/", session.Required(http.StripPrefix("/ops/payments", page)))
//
// The console has no login of its own. [Config.Author] names the person of each request, and that name is stored with
// each decision. Everybody whom it names may read all payments and decide about all of them: refuse the others there.
//
// # What protects it
//
// A decision is a POST. It needs a request from the same origin (http.CrossOriginProtection), and a token of the page
// that the same person has opened within the last half hour, for the same payment. The token also covers the state in
// which the page showed the payment: if it has changed since, nothing is stored. So if two people decide at once, the
// second one sees what the first one decided.
//
// The pages have no script, and load nothing but their own stylesheet. They cannot be framed, and are not cached.
// Nothing is stored by a GET.
//
// Behind a proxy, the header Host must be the one that the browser sent, as it is by default with most proxies.
package console
