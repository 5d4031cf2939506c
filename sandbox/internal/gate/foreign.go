package gate

import (
	"net/http"
	"sync"
)

const (
	// mostAnswers is how many responses of each operation are remembered.
	mostAnswers = 8
	// longestAnswer is how many bytes a remembered response has, at most.
	longestAnswer = 64 << 10
)

// sentAnswer is a response that an operation returned.
type sentAnswer struct {
	account, path, key string
	status             int
	header             []headerField // less to copy than a map
	body               []byte
}

type headerField struct {
	name   string
	values []string
}

// answers remembers the latest successful responses of each operation. The zero answers are ready.
type answers struct {
	mu          sync.Mutex
	byOperation map[string][]*sentAnswer // the latest is last
}

// remember keeps the response of a request, if it is a success.
func (a *answers) remember(v *visit) {
	if v.answer.status >= http.StatusBadRequest || v.route == nil || len(v.answer.body) > longestAnswer {
		return
	}
	sent := &sentAnswer{
		account: askedAccount(v.request), path: v.entry.Path, key: v.entry.IdempotencyKey,
		status: v.answer.status, header: make([]headerField, 0, len(v.answer.header)), body: v.answer.body,
	}
	for name, values := range v.answer.header {
		sent.header = append(sent.header, headerField{name, values})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byOperation == nil {
		a.byOperation = map[string][]*sentAnswer{}
	}
	list := a.byOperation[v.route.operation]
	if len(list) == mostAnswers {
		copy(list, list[1:])
		list = list[:mostAnswers-1]
	}
	a.byOperation[v.route.operation] = append(list, sent)
}

// foreign returns the latest response of the same operation to a request of another account, or to another request of
// the same account, or nil.
func (a *answers) foreign(v *visit, otherAccount bool) *sentAnswer {
	if v.route == nil {
		return nil
	}
	account := askedAccount(v.request)
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.byOperation[v.route.operation]
	for i := len(list) - 1; i >= 0; i-- {
		sent := list[i]
		other := sent.path != v.entry.Path || sent.key != v.entry.IdempotencyKey
		if otherAccount && sent.account != account || !otherAccount && sent.account == account && other {
			return sent
		}
	}
	return nil
}

func (a *answers) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byOperation = nil
}

// impersonate replaces the response by that of another request.
func (a *answer) impersonate(sent *sentAnswer) {
	a.status, a.slug, a.body = sent.status, "", sent.body
	clear(a.header)
	for _, field := range sent.header {
		a.header[field.name] = field.values
	}
}
