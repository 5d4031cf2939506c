package simulation

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// startEvents starts what happens beside the requests.
func (w *World) startEvents() {
	for name, event := range map[string]func(*rand.Rand, string){
		"nobody is there":     w.leave,
		"a process is frozen": w.freeze,
		"prices move":         w.movePrices,
		"the host's clock":    w.jumpClock,
		"the key is replaced": w.replaceKey,
		"the app key":         w.replaceAppKey,
		"payouts come back":   w.sendBack,
		"keys are forgotten":  w.forgetKeys,
		"the host's date":     w.jumpDays,
		"an older store":      w.restoreStore,
		"the store is away":   w.loseStore,
	} {
		random := w.seed.Draw("event", name)
		if random.IntN(2) == 0 {
			soon := 20 * time.Minute
			switch name {
			case "nobody is there", "a process is frozen", "keys are forgotten", "an older store", "the store is away":
				soon = 90 * time.Second // while payments are under way
			}
			w.others.Go(func() {
				if pause(w.ctx, between(random, time.Second, soon)) == nil {
					event(random, "world: "+name)
				}
			})
		}
	}
}

// movePrices makes all rates worse than any payment accepts, and later good again.
func (w *World) movePrices(random *rand.Rand, name string) {
	w.scheduler.Step(name+": worse", "")
	w.configure(func(s *sandbox.Settings) { s.PriceWorsening = decimal.New(5, -2) })
	<-time.After(between(random, time.Second, time.Hour))
	w.scheduler.Step(name+": as before", "")
	w.configure(func(s *sandbox.Settings) { s.PriceWorsening = decimal.Zero })
}

func (w *World) configure(change func(*sandbox.Settings)) {
	if err := w.host.Configure(change); err != nil {
		panic(err) // the settings are constant
	}
}

// jumpClock sets the host's clock forward.
func (w *World) jumpClock(random *rand.Rand, name string) {
	by := between(random, time.Second, 10*time.Minute)
	w.scheduler.Step(name+" jumps", by.String())
	w.host.Advance(by)
}

// jumpDays sets the host's clock forward by days: a key is then forgotten there, and young here.
func (w *World) jumpDays(random *rand.Rand, name string) {
	by := between(random, 24*time.Hour, 9*24*time.Hour)
	w.scheduler.Step(name+" jumps", by.String())
	w.network.books.forgets()
	w.host.Advance(by)
}

// forgetKeys lets the host lose its idempotency keys, as a service does that fails over to a machine without them.
func (w *World) forgetKeys(random *rand.Rand, name string) {
	for i := range 1 + random.IntN(3) {
		w.scheduler.Step(name+" "+strconv.Itoa(i), "")
		w.network.books.forgets()
		w.host.ForgetKeys()
		if pause(w.ctx, between(random, time.Second, 10*time.Minute)) != nil {
			return
		}
	}
}

// replaceKey registers another key, and deletes the one that processes use, before or after they change it.
func (w *World) replaceKey(random *rand.Rand, name string) {
	w.scheduler.Step(name+": registered", "")
	old := w.key
	key, err := newKey(w.seed, "second")
	if err == nil {
		_, err = w.host.RegisterKey(sandbox.KeyRegistration{Email: email, PublicKey: key.PublicKey()})
	}
	if err != nil {
		panic(err) // the key is a valid one
	}
	w.replace(random, name, func(of running) error { return of.platform.UseKey(w.signerOf(of.process, key)) },
		func() { w.key = key },
		func() {
			for _, registered := range w.host.Keys() {
				if slices.Equal(registered.PublicKey, old.PublicKey()) {
					_ = w.host.DeleteKey(registered.ID) // it is there
				}
			}
		})
}

// replaceAppKey does the same with the key of the app API.
func (w *World) replaceAppKey(random *rand.Rand, name string) {
	w.scheduler.Step(name+": registered", "")
	old := w.appKey
	key, err := w.newAppKey()
	if err != nil {
		panic(err) // the registration is a valid one
	}
	w.replace(random, name, func(of running) error { return of.app.UseKey(appapi.NewAPIKey(key.Key.Reveal())) },
		func() { w.appKey = key },
		func() { _ = w.host.DeleteAppKey(old.ID) }) // it is there
}

// replace lets all processes use another key, and removes the old one, in any order.
func (w *World) replace(
	random *rand.Rand, name string, use func(running) error, next, remove func(),
) {
	steps := []func(){func() {
		w.scheduler.Step(name+": used", "")
		w.mu.Lock()
		defer w.mu.Unlock()
		next()
		for _, running := range w.running {
			if err := use(running); err != nil {
				panic(err) // the key is a valid one
			}
		}
	}, func() {
		w.scheduler.Step(name+": deleted", "")
		remove()
	}}
	if random.IntN(2) == 0 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		<-time.After(between(random, time.Second, 20*time.Minute))
		step()
	}
}

// sendBack reports for some payouts that the money did not arrive.
func (w *World) sendBack(random *rand.Rand, name string) {
	payouts := w.admin.platform.Self().Sandbox
	for i := range 1 + random.IntN(4) {
		w.scheduler.Step(name+" "+strconv.Itoa(i), "")
		w.network.books.mu.Lock()
		ids := slices.Sorted(maps.Keys(w.network.books.payouts))
		w.network.books.mu.Unlock()
		if len(ids) > 0 {
			id := dapi.PayoutID(ids[random.IntN(len(ids))])
			status := []dapi.PayoutStatus{dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded}[random.IntN(2)]
			_, _ = payouts.SetPayoutStatus(context.Background(), id, status) // most are not in that state
		}
		if pause(w.ctx, between(random, time.Second, 10*time.Minute)) != nil {
			return
		}
	}
}

// restoreStore goes back to an older copy of the store, after the end of all processes. In half of the runs the store
// is marked as restored. In the others, whoever submits a payment again says when its key was first used.
func (w *World) restoreStore(random *rand.Rand, name string) {
	m, is := w.program.(*processor)
	if !is || m.reopen != nil {
		return
	}
	w.scheduler.Step(name+": copied", "")
	records, copied := m.records(), time.Now()
	if random.IntN(2) == 0 {
		copied = time.Time{}
	}
	if pause(w.ctx, between(random, time.Second, time.Hour)) != nil {
		return
	}
	w.leaveUntil(random, name, func() { m.restore(records, copied) })
}

// loseStore lets every call of the store fail for a while.
func (w *World) loseStore(random *rand.Rand, name string) {
	m, is := w.program.(*processor)
	if !is {
		return
	}
	w.scheduler.Step(name, "")
	m.away.Store(true)
	<-time.After(between(random, time.Second, time.Hour))
	w.scheduler.Step(name+" no longer", "")
	m.away.Store(false)
}

// leave ends all processes, and sometimes starts the next ones only when the service has forgotten the keys.
func (w *World) leave(random *rand.Rand, name string) { w.leaveUntil(random, name, func() {}) }

// endAll ends all processes.
func (w *World) endAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.absent = true
	for _, running := range w.running {
		running.process.end()
	}
}

// leaveUntil is leave. Before the next processes start, something else happens.
func (w *World) leaveUntil(random *rand.Rand, name string, last func()) {
	w.scheduler.Step(name, "")
	w.endAll()
	away := between(random, time.Minute, 2*time.Hour)
	if random.IntN(3) > 0 {
		away = between(random, 6*24*time.Hour, 9*24*time.Hour)
	}
	<-time.After(away)
	w.scheduler.Step(name+" until now", "")
	if w.network.books.broke() || w.ctx.Err() != nil {
		return
	}
	w.endAll() // also those that something else has started meanwhile
	last()
	w.mu.Lock()
	w.absent = false
	w.mu.Unlock()
	for place := range w.running {
		w.start(place)
	}
}

// freeze lets a process stand still, long enough for its leases to end. It goes on and knows nothing of that.
func (w *World) freeze(random *rand.Rand, name string) {
	for i := range 1 + random.IntN(3) {
		w.scheduler.Step(name+" "+strconv.Itoa(i), "")
		w.mu.Lock()
		p := w.running[random.IntN(len(w.running))].process
		w.mu.Unlock()
		p.freeze(true)
		<-time.After(between(random, time.Second, 3*time.Minute))
		w.scheduler.Step(name+" no longer "+strconv.Itoa(i), "")
		p.freeze(false)
		if pause(w.ctx, between(random, time.Second, time.Minute)) != nil {
			return
		}
	}
}
