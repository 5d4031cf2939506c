package transport

import (
	"context"
	"log/slog"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// longQueue is the time in a queue after which a call is logged, and after which its credential may have expired.
const longQueue = time.Second

// prepareAttempt prepares an attempt: it sets the credential and waits for the rate windows. It takes the slot last,
// right before sending. It checks the context: if sending noticed an ended context, it would look like a lost response.
func (r *Request) prepareAttempt(ctx context.Context) error {
	r.response.release()
	r.response = response{}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.header = r.newHeader()
	if err := r.authorizeAndPace(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.stillRepeatable()
}

// authorizeAndPace sets the credential, and then waits for a slot. After a long wait it sets the credential again,
// since it may have expired. If that takes long too, the slot is too old, and it waits for another one.
func (r *Request) authorizeAndPace(ctx context.Context) error {
	if err := r.authorize(ctx); err != nil {
		return err
	}
	queued, err := r.pace(ctx)
	if err != nil || queued < longQueue {
		return err
	}
	started := time.Now()
	if err = r.authorize(ctx); err == nil && time.Since(started) >= longQueue {
		_, err = r.pace(ctx)
	}
	return err
}

// pace waits for a slot in each window that counts the call, the smallest window first. A sandbox money call counts in
// its own window and as a write. A login counts for its email or challenge, and for the IP address.
func (r *Request) pace(ctx context.Context) (time.Duration, error) {
	c := r.client
	if c.limiter == nil || r.call.Reserved {
		r.call.Reserved = false
		return 0, nil
	}
	started := time.Now()
	call := moneymovement.RateCall{Class: r.class(), Closes: c.localTime(r.call.Closes)}
	err := r.waitForWindows(ctx, call)
	queued := time.Since(started)
	r.call.Queued += queued
	if queued >= longQueue {
		c.logQueued(ctx, r, call.Class, queued, err)
	}
	return queued, err
}

func (r *Request) waitForWindows(ctx context.Context, call moneymovement.RateCall) error {
	if also := r.call.Counted; also.Window != "" {
		call.Window, call.Scope = also.Window, also.Scope
		if err := r.client.wait(ctx, call); err != nil {
			return err
		}
	}
	money := r.op.Window == moneymovement.WindowSandboxMoney
	call.Window, call.Scope = r.op.Window, ""
	if money {
		call.Scope = r.account
	}
	err := r.client.wait(ctx, call)
	if err == nil && money {
		call.Window, call.Scope = moneymovement.WindowWrites, ""
		err = r.client.wait(ctx, call)
	}
	return err
}

func (c *Client) wait(ctx context.Context, call moneymovement.RateCall) error {
	ctx, over := ratewindow.BeginWait(ctx, call.Window)
	defer over()
	return c.limiter.Wait(ctx, call)
}

// class returns the class of the call, or that of its operation.
func (r *Request) class() moneymovement.RateClass {
	switch {
	case r.call.Class != "":
		return r.call.Class
	case r.op.Window == moneymovement.WindowLogin:
		return moneymovement.ClassLogin
	case r.op.write():
		return moneymovement.ClassWrite
	}
	return moneymovement.ClassRead
}

// Reserve takes the slots of a call. Use it before signing, so that a signature does not wait in a queue. Make the call
// at once with [Call.Reserved]: its first attempt does not wait again. Reserve returns how long it waited. Its errors
// are those of a call that was not sent.
func (c *Client) Reserve(ctx context.Context, op *Operation, call Call) (time.Duration, error) {
	r := NewRequest(op, "", call)
	r.prepare(c)
	err := r.prepareAttempt(ctx)
	if err != nil {
		err = r.outcome(ctx, err)
	}
	return r.call.Queued, err
}

// logQueued writes the record of a call that waited in a queue.
func (c *Client) logQueued(
	ctx context.Context, r *Request, class moneymovement.RateClass, queued time.Duration, err error,
) {
	if c.logger == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", r.op.ID),
		slog.String("window", string(r.op.Window)),
		slog.String("class", string(class)),
		Milliseconds("queued", queued),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	c.logger.LogAttrs(ctx, slog.LevelInfo, "moneymovement waited for its rate window", attrs...)
}
