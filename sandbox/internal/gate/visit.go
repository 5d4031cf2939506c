package gate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/audit"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/exchange"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// visit is one arrival of a request. A fault can make a request arrive twice.
type visit struct {
	request *http.Request
	surface *surface
	body    *payload
	answer  *answer
	entry   Entry

	route      *route
	run        func(context.Context, *wire.Request) (wire.Answer, error)
	parameters map[string]string
	unknown    error // why there is no route

	admitted *wire.Caller // nil until the caller was admitted
	began    time.Time    // on the machine's clock
}

// seedAgent is in the User-Agent of the requests by which the command prepares a host.
const seedAgent = "moneymove-seed"

func (g *Gate) newVisit(r *http.Request) *visit {
	s := g.surfaceOf(r.URL.Path)
	v := &visit{request: r, surface: s, answer: newAnswer("req_" + rand.Text()), began: time.Now()}
	v.answer.detailed = s.detailed
	v.body = &payload{request: r, limit: s.maxBody}
	v.entry.Request = Request{
		Time: g.clock.Now(), Method: r.Method, Path: r.URL.Path, RequestID: v.answer.requestID,
	}
	v.entry.IdempotencyKey, _ = idempotencyKeyOf(r)
	v.entry.Seeded = strings.Contains(r.UserAgent(), seedAgent)
	return v
}

// find finds the operation and the resource of the request.
func (v *visit) find() {
	var found *endpoint
	if found, v.parameters, v.unknown = v.surface.routes.find(v.request); v.unknown == nil {
		v.route, v.unknown = found.open()
	}
	if v.unknown == nil {
		v.run = v.surface.served[found.index].Run
		v.entry.ResourceID = v.parameters[v.route.resource]
	}
}

// admit returns the caller of the request, or refuses it.
func (v *visit) admit() (wire.Caller, error) {
	if v.admitted != nil {
		return *v.admitted, nil
	}
	who, err := v.surface.admit(v.request, v.route, v.answer.requestID)
	if err == nil {
		admitted := who
		v.admitted = &admitted
	}
	return who, err
}

// note adds the request to the log and to the audit, with the response that its caller gets, and calls the observer.
func (g *Gate) note(v *visit, status int, slug string) {
	if g.log.length == 0 && g.audit == nil && g.observe == nil {
		return
	}
	v.entry.Status, v.entry.Slug, v.entry.Duration = status, slug, time.Since(v.began)
	var body *audit.Digest
	if v.body.wasRead && v.body.refused == nil && len(v.body.bytes) > 0 {
		body = g.digest(v.body.bytes)
		v.entry.BodyDigest = hex.EncodeToString(body[:])
	}
	v.entry = g.log.add(v.entry, g.exchangeOf(v))
	if g.observe != nil {
		g.observe(v.entry)
	}
	if g.audit == nil || v.route == nil || v.entry.Repeated {
		return
	}
	switch v.route.operation {
	case "BookPayout":
		if v.entry.IdempotencyKey != "" {
			g.audit.Requested(askedAccount(v.request), v.entry.IdempotencyKey, body)
		}
	case "ConfirmPayout":
		g.audit.Confirmed(v.entry.ResourceID)
	}
}

// exchangeOf returns what was sent, or nil if the log does not keep it.
func (g *Gate) exchangeOf(v *visit) *exchange.Exchange {
	if !g.log.records() {
		return nil
	}
	var body []byte // a body that nobody read is not kept
	if v.body.wasRead {
		body = v.body.bytes
	}
	sent := &exchange.Exchange{Request: exchange.NewMessage(v.request.Header, v.request.URL.RawQuery, body)}
	if v.entry.Status != 0 {
		sent.Response = exchange.NewMessage(v.answer.header, "", v.answer.body)
	}
	return sent
}

// digest returns a digest that is the same for the same bytes. It depends on a key of this gate: the plain digest of a
// short body, such as one with a PIN, would give the body away.
func (g *Gate) digest(body []byte) *audit.Digest {
	hash := sha256.New()
	hash.Write([]byte(g.digestKey))
	hash.Write(body)
	digest := audit.Digest(hash.Sum(nil)[:16])
	return &digest
}

// resourceOf returns the name of the last parameter of a path.
func resourceOf(path string) string {
	start := strings.LastIndexByte(path, '{')
	if start < 0 {
		return ""
	}
	name, _, _ := strings.Cut(path[start+1:], "}")
	return name
}
