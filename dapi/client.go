package dapi

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// lowLevel sends the generated operations for one account.
type lowLevel struct {
	transport *transport.Client
	keys      *keyring // nil for logins
	pinned    *session // the session to use, even after UseKey; nil for the current one of keys
	account   ClientID
	acting    bool           // true for a client, false for the credential's own account
	call      transport.Call // what all calls have
	check     func(*transport.Check)
}

// withCheck adds a check of the input to each call, for what the description does not state.
func (c lowLevel) withCheck(check func(*transport.Check)) lowLevel {
	c.check = check
	return c
}

// as returns a lowLevel whose calls have the rate class.
func (c lowLevel) as(class moneymovement.RateClass) lowLevel {
	c.call.Class = class
	return c
}

// with returns a lowLevel whose calls belong to another call, and have its credential and its headers.
func (c lowLevel) with(origin transport.Origin) lowLevel {
	c.call.Auth, c.call.Header = origin.Auth, origin.Header
	return c
}

// withHeaderOf returns a lowLevel whose calls have the headers of a method's options. It is for a method that makes
// several calls.
func (c lowLevel) withHeaderOf(options []moneymovement.CallOption) lowLevel {
	if header := moneymovement.CallSettingsOf(options...).Header; header != nil {
		c.call.Header = header
	}
	return c
}

// polling returns a lowLevel for the reads of a wait.
func (c lowLevel) polling(options []moneymovement.WaitOption) lowLevel {
	c.call.Class, c.call.Header = moneymovement.ClassPoll, moneymovement.WaitSettingsOf(options...).Header
	return c
}

// withKey returns a lowLevel whose calls have the idempotency key. It is for a call that cannot take one from users,
// such as the confirm of a payment.
func (c lowLevel) withKey(key moneymovement.Key) lowLevel {
	c.call.Key = key
	return c
}

// countedIn returns a lowLevel for a login call, which waits for the rate window of its email or its challenge, too.
func (c lowLevel) countedIn(window moneymovement.Window, scope string) lowLevel {
	c.call.Counted.Window, c.call.Counted.Scope = window, scope
	return c
}

// constructors are the functions that make a client. Error texts name them.
const constructors = "dapi.NewIntegrator or dapi.NewSelfServe"

// ready returns an error if a flow of several calls cannot begin: for a nil context, for a client that no constructor
// made, or if a check refuses the input.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation, checks ...func(*transport.Check)) error {
	flow := transport.Flow{Op: op, Account: string(c.account), Key: c.call.Key}
	return transport.Ready(ctx, c.transport, flow, constructors, checks...)
}

// head returns the CallInfo of an error about the operation.
func (c lowLevel) head(op *transport.Operation, resource string) errors.CallInfo {
	head := op.Head("")
	head.Resource, head.Account = resource, string(c.account)
	return head
}

// actingFor returns the account as an approval names it: the client's id, or self.
func (c lowLevel) actingFor() string {
	if c.acting {
		return string(c.account)
	}
	return "self"
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return c.requestOf(op, moneymovement.CallSettingsOf(options...))
}

// write is request for an operation that has an idempotency key.
func (c lowLevel) write(op *transport.Operation, options []moneymovement.WriteOption) *transport.Request {
	return c.requestOf(op, moneymovement.CallSettingsOf(options...))
}

// callOf adds the settings of a call to those of all calls. Without another credential, the call carries the token of
// its session.
func (c lowLevel) callOf(settings moneymovement.CallSettings) transport.Call {
	call := c.call
	call.CallSettings = settings
	call.Key = cmp.Or(settings.Key, c.call.Key)
	if settings.Header == nil {
		call.Header = c.call.Header
	}
	if s := c.session(); s != nil && call.Auth == nil {
		call.Auth = s
	}
	return call
}

func (c lowLevel) requestOf(op *transport.Operation, settings moneymovement.CallSettings) *transport.Request {
	r := transport.NewRequest(op, string(c.account), c.callOf(settings))
	r.Check().Constructed(c.transport, constructors)
	if c.acting {
		r.Check().ClientID("X-Service-Account", string(c.account))
	}
	if c.check != nil {
		c.check(r.Check())
	}
	return r
}

// maxPage is the largest number of items in a page.
const maxPage = 100

// pages iterates over a list with cursors, from the cursor of params on. Each range starts again. It reads at most
// `most` pages, and a longer list is an error: a list that the SDK reads by itself must be limited. cursor returns the
// cursor field of the parameters, and read returns the items and the next cursor of a page.
func pages[P, L, T any](
	ctx context.Context, most int, operation *transport.Operation,
	list func(context.Context, P, ...moneymovement.CallOption) (*L, error), params P,
	options []moneymovement.CallOption, cursor func(*P) *string, read func(*L) (items []T, next string),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		refuse := func(reason error) {
			yield(none, &errors.UnexpectedResponse{CallInfo: operation.Head(""), Status: http.StatusOK, Err: reason})
		}
		params := params
		at := cursor(&params)
		walked := transport.NewTrail(*at)
		for page := 1; ; page++ {
			response, err := list(ctx, params, options...)
			if err != nil {
				yield(none, err)
				return
			}
			items, next := read(response)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			switch {
			case walked.Again(next):
				refuse(errCursorLoop)
				return
			case page == most:
				refuse(fmt.Errorf("the list has more than %d pages", most))
				return
			}
			*at = next
		}
	}
}

var errCursorLoop = errors.New("the list does not advance: its cursor leads back to a page that was read")
