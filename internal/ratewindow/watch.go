package ratewindow

import (
	"context"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

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
