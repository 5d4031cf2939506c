package contrary_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// The service behaves otherwise than we assume. Refusals that are carried out all the same are the flows'
// (TestRefusalAfterMoneyMoved).
func TestServiceWithOtherBehaviour(t *testing.T) {
	d := describe(t)
	tests := map[contrary.Kind]func(*testing.T, *wire.Description, contrary.Change){
		contrary.OtherSlug: otherSlug, contrary.OtherScope: otherScope, contrary.OtherOrder: otherOrder,
		contrary.OtherPage: otherPage,
		contrary.Repeats:   repeats, contrary.OtherAdvice: otherAdvice, contrary.Absent: otherDetails,
		contrary.AsObject:    otherDetails,
		contrary.AnotherWord: otherChain,
	}
	for _, mark := range derive(t) {
		for _, change := range behaviours(mark) {
			if change.Kind == contrary.CarriedOut {
				continue
			}
			t.Run(mark.Name()+"/"+change.Name(), func(t *testing.T) {
				t.Parallel()
				tests[change.Kind](t, d, change)
			})
		}
	}
}

// behaviours are the mark's cases, each once.
func behaviours(mark *contrary.Mark) []contrary.Change {
	return firstCases(mark, func(c contrary.Change) bool { return c.Class == contrary.ClassBehaviour }, caseOf)
}

// refusedWith makes a call that is refused.
func refusedWith(t *testing.T, o *wire.Operation, a *response) error {
	t.Helper()
	made := newCall(t, o, refuseAll(a))
	made.ask(nil)
	_, err := callOf(o)(made)
	require.Error(t, err)
	return err
}

// otherSlug: any operation can return any slug, and one that nobody knows yet.
func otherSlug(t *testing.T, d *wire.Description, c contrary.Change) {
	surface := c.Mark.File
	if surface == "errors.yaml" { // the catalogue is the platform API's
		surface = "dapi.yaml"
	}
	for _, o := range d.Operations {
		if o.Surface != surface || isLogin(o) {
			continue
		}
		for _, slug := range []string{unlisted(o), "a_slug_of_a_later_version"} {
			err := refusedWith(t, o, refusal(http.StatusConflict, slug, problem, nil))
			refused, is := errors.AsType[*errors.Refusal](err)
			require.True(t, is, "%T: %v", err, err)
			assert.Equal(t, slug, string(refused.Code))
			assert.Equal(t, o.ID, refused.Operation)
		}
	}
}

// unlisted is a slug of the catalogue that the operation is not said to return.
func unlisted(o *wire.Operation) string {
	for _, code := range errors.Codes() {
		if !slices.Contains(o.Slugs(), string(code)) && code.Status() == http.StatusConflict &&
			code != errors.CodeAlreadyFunded {
			return string(code)
		}
	}
	return ""
}

func otherScope(t *testing.T, _ *wire.Description, c contrary.Change) {
	details := map[string]any{"requiredScope": "money:everything", "scope": []any{"money:nothing"}}
	o := c.Site.Operation
	if isLogin(o) {
		o = describe(t).Find(http.MethodGet, "/dapi/v1/chains")
	}
	refused, is := errors.AsType[*errors.Forbidden](refusedWith(t, o,
		refusal(http.StatusForbidden, "forbidden", problem, details)))
	require.True(t, is)
	assert.Equal(t, "money:everything", refused.RequiredScope)
}

// otherOrder: a list reads in the order in which it came.
func otherOrder(t *testing.T, d *wire.Description, c contrary.Change) {
	forth := newCall(t, c.Site.Operation, sampleService{description: d})
	forth.ask(nil)
	_, err := callOf(c.Site.Operation)(forth)
	require.NoError(t, err)
	whole, err := decode(forth.response.Body)
	require.NoError(t, err)
	list, _ := member(whole, contrary.PageList).([]any)
	require.Greater(t, len(list), 1)
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	back := newCall(t, c.Site.Operation,
		refuseAll(jsonResponse(http.StatusOK, put(whole, pointer{contrary.PageList}, reversed, true))))
	back.ask(nil)
	value, err := callOf(c.Site.Operation)(back)
	require.NoError(t, err)
	assert.Empty(t, differences(filled(reversed), member(tree(t, value), contrary.PageList), nil))
}

// otherPage: who asks for no limit gets pages of another size, and a walk has all entries all the same.
func otherPage(t *testing.T, d *wire.Description, c contrary.Change) {
	o := d.Find(http.MethodGet, "/user/contacts")
	whole := sample(contrary.ResponseLayers(o)[0], nil)
	list, _ := member(whole, contrary.PageList).([]any)
	const pageLength = 2
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("offset"), &from)
		page := list[min(from, len(list)):min(from+pageLength, len(list))]
		refuseAll(jsonResponse(http.StatusOK, map[string]any{contrary.PageList: page})).ServeHTTP(w, r)
	})
	made := newCall(t, o, service)
	count := 0
	for _, err := range made.app.Contacts.All(t.Context(), appapi.ListContactsParams{}) {
		require.NoError(t, err)
		count++
	}
	assert.Equal(t, len(list), count, "%s", c.Mark.Name())
}

// repeats: the first response is lost, and a second request is taken for another one, which is refused. What is not
// said to be harmless is not sent again; what is may be, once the SDK says what became of it.
func repeats(t *testing.T, _ *wire.Description, c contrary.Change) {
	synctest.Test(t, func(t *testing.T) {
		o := c.Site.Operation
		var sent atomic.Int32
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sent.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
			refuseAll(refusal(http.StatusConflict, "conflict", problem, nil)).ServeHTTP(w, r)
		})
		made := newCallAt(t, baseURL, o, service, moneymovement.WithRetries(moneymovement.RetryPolicy{}))
		made.ask(nil)
		_, err := callOf(o)(made)
		require.Error(t, err)
		assert.ErrorContains(t, err, o.ID)
		_, inDoubt := errors.AsType[*errors.InDoubt](err)
		_, refused := errors.AsType[*errors.Conflict](err)
		assert.True(t, inDoubt || refused, "%T: %v", err, err)
		if o.Node.At("x-idempotency").Text() == "none" {
			assert.EqualValues(t, 1, sent.Load(), "it was sent again")
			assert.True(t, inDoubt, "%T: %v", err, err)
		}
	})
}

// slugsOf are the slugs that a mark of the catalogue is about.
func slugsOf(mark *contrary.Mark) []errors.Code {
	parts := strings.Split(mark.Where, ".")
	if parts[0] == "slugs" {
		return []errors.Code{errors.Code(parts[1])}
	}
	return errors.Codes()
}

// otherAdvice: what we say about a refusal is advice. A program that does otherwise is not kept from it.
func otherAdvice(t *testing.T, d *wire.Description, c contrary.Change) {
	o := d.Find(http.MethodGet, "/dapi/v1/chains")
	for _, code := range slugsOf(c.Mark) {
		if code.Status() == http.StatusUnauthorized || code.Status() == 0 {
			continue // the SDK's own: it logs in again, once
		}
		var sent atomic.Int32
		a := refusal(code.Status(), string(code), problem, nil)
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent.Add(1)
			refuseAll(a).ServeHTTP(w, r)
		})
		made := newCall(t, o, service)
		made.ask(nil)
		for range 2 {
			_, err := callOf(o)(made)
			refused, is := errors.AsType[*errors.Refusal](err)
			require.True(t, is, "%T: %v", err, err)
			assert.Equal(t, code, refused.Code)
		}
		assert.EqualValues(t, 2, sent.Load(), "%s", code)
	}
}

// otherDetails: details that are not as described leave the refusal as it is.
func otherDetails(t *testing.T, d *wire.Description, c contrary.Change) {
	var details any
	if c.Kind == contrary.AsObject {
		details = map[string]any{"available": map[string]any{"value": "1"}, "currency": []any{"USDC"}}
	}
	for _, code := range slugsOf(c.Mark) {
		err := refusedWith(t, d.Find(http.MethodGet, "/dapi/v1/chains"),
			refusal(code.Status(), string(code), problem, details))
		refused, is := errors.AsType[*errors.Refusal](err)
		require.True(t, is, "%T: %v", err, err)
		assert.Equal(t, code, refused.Code)
	}
}

// otherChain: the code of a chain is sent as the program spells it.
func otherChain(t *testing.T, d *wire.Description, _ contrary.Change) {
	o := d.Find(http.MethodPost, "/dapi/v1/contacts")
	var body []byte
	host := &contraryHost{next: sampleService{description: d}, description: d,
		seen: func(_ *wire.Operation, sent []byte, _ *response) { body = sent }}
	made := newCall(t, o, host)
	_, err := made.acme.Contacts.Create(t.Context(), dapi.ContactCreate{
		Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: payee, ChainID: "base-mainnet", Currency: "USDC"}),
	})
	require.NoError(t, err)
	assert.Contains(t, string(body), `"base-mainnet"`)
}

// What moves the money of a flow, and is refused though it was carried out.
var moves = []struct {
	flow      string
	operation string
}{
	{"pay", "dapi ConfirmPayout"},
	{"escrow", "dapi ConfirmEscrowAction"},
	{"transfer", "appapi CreateTransfer"},
}

// We conclude from most refusals that no money moved. A service that refuses what it has carried out makes us wrong,
// for one call: the same call made again moves no more money, and says that it moved.
func TestRefusalAfterMoneyMoved(t *testing.T) {
	d := describe(t)
	var slugs []errors.Code
	for _, mark := range derive(t) {
		for _, change := range behaviours(mark) {
			if change.Kind == contrary.CarriedOut {
				slugs = append(slugs, slugsOf(mark)...)
			}
		}
	}
	slices.Sort(slugs)
	for _, slug := range slices.Compact(slugs) {
		if slug.Status() == 0 {
			continue // never raised
		}
		for _, move := range moves {
			t.Run(string(slug)+"/"+move.flow, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { refuseCarriedOut(t, d, slug, move.flow, move.operation) })
			})
		}
	}
}

func refuseCarriedOut(t *testing.T, d *wire.Description, slug errors.Code, flowName, operation string) {
	w := newWorld(t, d)
	w.other, w.lenient = true, true
	refused := 0
	w.contrary.seen = func(o *wire.Operation, _ []byte, a *response) {
		if o.Name() == operation && a.status < 300 && a.header.Get("Idempotency-Replayed") == "" {
			*a = *refusal(slug.Status(), string(slug), "It says so, and has done it.", nil)
			refused++
		}
	}
	i := slices.IndexFunc(flows, func(f flow) bool { return f.name == flowName })
	flows[i].run(w)
	require.Positive(t, refused)
}
