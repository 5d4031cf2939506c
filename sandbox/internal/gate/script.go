package gate

import (
	"math"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// garbage is what a proxy might send.
const garbage = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body>" +
	"<h1>502 Bad gateway</h1></body></html>\n"

// nothing, as the length of a response, closes the connection instead.
const nothing = -1

// before does what a fault does before the request is judged. It reports whether
// the operation runs. The body of a request that a fault happens to is read
// first: net/http notices a caller that gives up only then, and a connection that
// closes with something unread in it does so with an error.
func (g *Gate) before(r *http.Request, f fault.Fault, body *payload) bool {
	if f.Kind != "" {
		_, _ = body.read() // what is wrong with it is reported when the request is judged
	}
	switch f.Kind {
	case fault.ExpireToken:
		g.tokens.Expire(bearerOf(r))
	case fault.Delay:
		timer := time.NewTimer(time.Duration(f.Delay))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done(): // the caller gave up; what it asked for still arrived
		}
	}
	return f.RunsOperation()
}

// after does what a fault does to the response, and says how many bytes of its
// body are sent.
func (g *Gate) after(a *answer, f fault.Fault) (length int) {
	switch f.Kind {
	case fault.DropBefore, fault.DropAfterCommit:
		return nothing
	case fault.Truncate:
		if f.Keep == 0 {
			return len(a.body) / 2
		}
		return max(0, min(f.Keep, len(a.body)-1))
	case fault.Garbage:
		status := f.Status
		if status == 0 {
			status = http.StatusBadGateway
		}
		a.replace(status, "text/html; charset=utf-8", []byte(garbage))
	case fault.Respond:
		a.respond(f)
	}
	return math.MaxInt
}

// respond writes a scripted response.
func (a *answer) respond(f fault.Fault) {
	if f.Body != "" || f.Code == "" {
		a.replace(f.Status, "application/json", []byte(f.Body))
	} else {
		message := f.Message
		if message == "" {
			message = "A scripted refusal."
		}
		a.write(&refuse.Refusal{Status: f.Status, Code: f.Code, Message: message, Details: f.Details})
	}
	for name, value := range f.Headers {
		a.header.Set(name, value)
	}
}

// breakOff closes the connection. What was written reaches the caller first.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // a writer that cannot flush has nothing to lose
	panic(http.ErrAbortHandler)
}
