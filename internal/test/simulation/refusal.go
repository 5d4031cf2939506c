package simulation

import (
	"fmt"
	"net/http"
	"time"
)

// page is what a proxy shows.
const page = "<!DOCTYPE html><html><body><h1>Something is wrong</h1></body></html>"

// refusal returns the response of a refused request: the service's envelope, or the page of a proxy.
func (n *Network) refusal(fault Fault) *answer {
	a := n.answered(fault.Status, "application/json",
		fmt.Sprintf(`{"error":{"code":%q,"message":"A simulated refusal.","details":{"requestId":"req_simulated"}}}`,
			fault.Slug))
	if fault.Slug == "" {
		a = n.answered(fault.Status, "text/html", page)
	}
	switch fault.After {
	case "":
	case "date":
		a.header.Set("Retry-After", n.host.Now().Add(9*time.Second).Format(http.TimeFormat))
	default:
		a.header.Set("Retry-After", fault.After)
	}
	return a
}

// redirect sends the caller to another host. Nobody is there: the SDK must not follow.
func (n *Network) redirect(fault Fault, request *sent) *answer {
	a := n.answered(fault.Status, "text/html", page)
	a.header.Set("Location", "https://elsewhere.example"+request.request.URL.Path)
	return a
}

// foreign returns a body that is not the answer to the request, with the status of a success.
func (n *Network) foreign(fault Fault, request *sent, got *answer) *answer {
	switch fault.Slug {
	case "empty":
		return n.answered(fault.Status, "application/json", "")
	case "braces":
		return n.answered(fault.Status, "application/json", "{}")
	case "list":
		return n.answered(fault.Status, "application/json", "[]")
	case "other":
		n.mu.Lock()
		defer n.mu.Unlock()
		of := "read payouts"
		if request.operation == "sync" {
			of = "sync"
		}
		if other := n.last[of]; other != nil && request.label != "session" {
			return other // about another payment, or an older state of this one
		}
		return got
	}
	return n.answered(fault.Status, "text/html", page)
}

func (n *Network) answered(status int, kind, body string) *answer {
	return &answer{status, http.Header{
		"Content-Type": {kind}, "Date": {n.host.Now().Format(http.TimeFormat)},
	}, []byte(body)}
}
