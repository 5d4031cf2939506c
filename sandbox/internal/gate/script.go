package gate

import (
	"math"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// garbage is a page as a proxy sends it.
const garbage = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body>" +
	"<h1>502 Bad gateway</h1></body></html>\n"

// nothing, as the length of a response, closes the connection without a response.
const nothing = -1

// before does what a fault does before the request is checked. It reports whether the operation runs. It reads the body
// of the request first: net/http notices only then that a caller gives up, and closing a connection with unread bytes
// causes an error.
func (g *Gate) before(v *visit, f fault.Fault) bool {
	if f.Kind != "" {
		_, _ = v.body.read() // a later step reports what is wrong with the body
	}
	switch {
	case f.Kind == fault.ExpireToken:
		g.tokens.Expire(bearerOf(v.request))
	case f.Kind == fault.Delay && !f.AfterCommit:
		v.wait(f)
	}
	return f.RunsOperation()
}

// wait waits for the time of a delay, or until the caller gives up. Its request has arrived, whatever it does.
func (v *visit) wait(f fault.Fault) {
	timer := time.NewTimer(time.Duration(f.Delay))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-v.request.Context().Done():
	}
}

// after does what a fault does to the response. It returns how many bytes of its body are sent.
func (g *Gate) after(v *visit, f fault.Fault, foreign *sentAnswer) (length int) {
	a := v.answer
	switch f.Kind {
	case fault.Delay:
		if f.AfterCommit {
			v.wait(f)
		}
	case fault.Foreign:
		a.impersonate(foreign)
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
		a.write(&wire.Refusal{Status: f.Status, Code: f.Code, Message: message, Details: f.Details})
	}
	for name, value := range f.Headers {
		a.header.Set(name, value)
	}
}

// breakOff closes the connection. The bytes written so far reach the caller first.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // a writer that cannot flush has written nothing
	panic(http.ErrAbortHandler)
}
