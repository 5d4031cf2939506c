package transport

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// longQueue is the time in line after which a call is logged, and after which its credential may have expired.
const longQueue = time.Second

// prepare sets the credential of an attempt and waits for the rate windows. It takes the slot last, right before
// sending. It checks the context: if sending noticed an ended context, it would look like a lost response.
func (c *Client) prepare(ctx context.Context, t *tracker, h http.Header) error {
	t.answer.release()
	t.answer = answer{}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.header = h
	if err := c.enter(ctx, t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.stillRepeatable()
}

// enter sets the credential, and then waits for room. After a long wait it sets the credential again, since it may have
// expired. If that takes long as well, the slot is too old, and enter waits for another one.
func (c *Client) enter(ctx context.Context, t *tracker) error {
	if err := t.authorize(ctx); err != nil {
		return err
	}
	queued, err := c.pace(ctx, t)
	if err != nil || queued < longQueue {
		return err
	}
	started := time.Now()
	if err = t.authorize(ctx); err == nil && time.Since(started) >= longQueue {
		_, err = c.pace(ctx, t)
	}
	return err
}

// pace waits for room in the windows that count the call, the smallest window first. A sandbox money call counts in its
// own window and as a write. A login counts for its email or challenge, and for the IP address.
func (c *Client) pace(ctx context.Context, t *tracker) (time.Duration, error) {
	if c.limiter == nil || t.reserved {
		t.reserved = false
		return 0, nil
	}
	started := time.Now()
	call := moneymovement.RateCall{Class: t.class(), Closes: c.localTime(t.call.Closes)}
	err := c.passAll(ctx, t, call)
	queued := time.Since(started)
	t.queued += queued
	if queued >= longQueue {
		c.logQueued(ctx, t, call.Class, queued, err)
	}
	return queued, err
}

func (c *Client) passAll(ctx context.Context, t *tracker, call moneymovement.RateCall) error {
	if also := t.call.Counted; also.Window != "" {
		call.Window, call.Scope = also.Window, also.Scope
		if err := c.wait(ctx, call); err != nil {
			return err
		}
	}
	call.Window, call.Scope = t.op.Window, t.scope
	err := c.wait(ctx, call)
	if err == nil && t.op.Window == moneymovement.WindowSandboxMoney {
		call.Window, call.Scope = moneymovement.WindowWrites, ""
		err = c.wait(ctx, call)
	}
	return err
}

func (c *Client) wait(ctx context.Context, call moneymovement.RateCall) error {
	ctx, over := InLine(ctx, call.Window)
	defer over()
	return c.limiter.Wait(ctx, call)
}

// QueueWatch is called when a call has waited in line for some seconds. until is when it will go on, as far as is
// known. What it returns is called when the wait is over.
type QueueWatch func(window moneymovement.Window, until time.Time) (over func())

type (
	queueWatch struct{} // the context's key of the QueueWatch
	goesOn     struct{} // the context's key of an *atomic.Value with a func() time.Time
)

// watchedQueue is the time in line after which a [QueueWatch] is called.
const watchedQueue = 5 * time.Second

// WatchQueue returns a context for calls whose waits in line are watched.
func WatchQueue(ctx context.Context, watch QueueWatch) context.Context {
	return context.WithValue(ctx, queueWatch{}, watch)
}

// InLine begins a wait, and returns its context, for [GoesOn]. Call over when the wait is over.
func InLine(ctx context.Context, window moneymovement.Window) (waiting context.Context, over func()) {
	watch, _ := ctx.Value(queueWatch{}).(QueueWatch)
	if watch == nil {
		return ctx, func() {}
	}
	known := new(atomic.Value)
	called := make(chan func(), 1)
	timer := time.AfterFunc(watchedQueue, func() {
		over := func() {}
		defer func() { called <- over }() // also if the watch ends its goroutine
		var until time.Time
		if at, ok := known.Load().(func() time.Time); ok {
			if until = at(); !until.After(time.Now()) {
				until = time.Time{} // it would have gone on, so nobody knows
			}
		}
		over = watch(window, until)
	})
	return context.WithValue(ctx, goesOn{}, known), func() {
		if !timer.Stop() {
			(<-called)()
		}
	}
}

// GoesOn is for whoever keeps a line: its watch asks at when the call will go on.
func GoesOn(waiting context.Context, at func() time.Time) {
	if known, ok := waiting.Value(goesOn{}).(*atomic.Value); ok {
		known.Store(at)
	}
}

// class returns the class of the call, or that of its operation.
func (t *tracker) class() moneymovement.RateClass {
	switch {
	case t.call.Class != "":
		return t.call.Class
	case t.op.Window == moneymovement.WindowLogin:
		return moneymovement.ClassLogin
	case t.op.write():
		return moneymovement.ClassWrite
	}
	return moneymovement.ClassRead
}

// scope returns the account for which the sandbox money window counts.
func (r *Request) scope() string {
	if r.op.Window == moneymovement.WindowSandboxMoney {
		return r.account
	}
	return ""
}

// Reserve waits for room for a call. Use it before signing, so that a signature does not wait in line. Make the call at
// once with [Call.Reserved]: its first attempt does not wait again. Reserve returns how long it waited. Its errors are
// those of a call that was not sent.
func (c *Client) Reserve(ctx context.Context, op *Operation, call Call) (time.Duration, error) {
	r := NewRequest(op, "", call)
	t := &r.tracker
	*t = tracker{op: op, call: &r.call, request: r, auth: c.authorizer(&r.call)}
	err := c.prepare(ctx, t, http.Header{})
	if err != nil {
		return t.queued, t.outcome(ended(ctx, err))
	}
	return t.queued, nil
}

// logQueued writes the record of a call that waited in line.
func (c *Client) logQueued(ctx context.Context, t *tracker, class moneymovement.RateClass, queued time.Duration,
	err error) {
	if c.logger == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", t.op.ID),
		slog.String("window", string(t.op.Window)),
		slog.String("class", string(class)),
		Milliseconds("queued", queued),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	c.logger.LogAttrs(ctx, slog.LevelInfo, "moneymovement waited for its rate window", attrs...)
}
