package console_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	sdkerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/console"
)

// store counts what would change payments, and fails if a test says so.
type store struct {
	payments.Store
	writes atomic.Int32
	down   atomic.Bool
}

var errDown = errors.New("dial tcp db-7.internal: connection refused")

func (s *store) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	s.writes.Add(1)
	return s.Store.Claim(ctx, claim)
}

func (s *store) Save(ctx context.Context, claimed payments.Claimed, release bool) (payments.Position, error) {
	s.writes.Add(1)
	if s.down.Load() {
		return "", errDown
	}
	return s.Store.Save(ctx, claimed, release)
}

func (s *store) List(ctx context.Context, list payments.List) ([]payments.Record, error) {
	if s.down.Load() {
		return nil, errDown
	}
	return s.Store.List(ctx, list)
}

// office is a console behind a login that takes the name from a header, below a path.
type office struct {
	*testing.T
	store  *store
	server *httptest.Server
	now    atomic.Int64 // seconds that the clock of the tokens is ahead
	client *http.Client
}

const prefix = "/ops/payments"

var errStranger = errors.New("no session for this cookie")

func newOffice(t *testing.T, change ...func(*console.Config)) *office {
	t.Helper()
	o := &office{T: t, store: &store{Store: payments.NewMemoryStore()}}
	processor, err := payments.New(o.store, payments.Services{}, payments.Config{})
	require.NoError(t, err)
	config := console.Config{Processor: processor,
		Author: func(r *http.Request) (string, error) {
			if r.Header.Get("X-User") == "" {
				return "", errStranger
			}
			return strings.TrimPrefix(r.Header.Get("X-User"), "no name"), nil
		},
		Now: func() time.Time { return time.Now().Add(time.Duration(o.now.Load()) * time.Second) }}
	for _, c := range change {
		c(&config)
	}
	page, err := console.New(config)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, page))
	o.server = httptest.NewServer(mux)
	t.Cleanup(o.server.Close)
	o.client = o.server.Client()
	o.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return o
}

// add stores a payment as it is after a change.
func (o *office) add(key string, change func(*payments.Record)) payments.Record {
	o.Helper()
	now := time.Now().UTC()
	record := payments.Record{Key: moneymovement.Key(key), Kind: payments.KindPayout, Account: "cl_1",
		Payout: &dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(25), Currency: dapi.USDC},
		State:  moneymovement.PaymentNeedsDecision, AcceptedAt: now, ChangedAt: now, FirstUsed: now,
		Reason: &payments.Reason{Code: payments.ReasonBalance, Message: "the account has too little"}}
	if change != nil {
		change(&record)
	}
	stored, inserted, err := o.store.Insert(o.Context(), record)
	require.NoError(o, err)
	require.True(o, inserted)
	return stored
}

func (o *office) get(key string) payments.Record {
	o.Helper()
	record, err := o.store.Load(o.Context(), moneymovement.Key(key))
	require.NoError(o, err)
	return record
}

// reply is a response with its body.
type reply struct {
	*http.Response
	body string
}

func (o *office) do(as, method, path string, form url.Values, headers ...string) reply {
	o.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(o.Context(), method, o.server.URL+prefix+path, body)
	require.NoError(o, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if as != "" {
		r.Header.Set("X-User", as)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := o.client.Do(r)
	require.NoError(o, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(o, err)
	return reply{response, string(text)}
}

// page opens a page.
func (o *office) page(as, path string) string {
	o.Helper()
	got := o.do(as, http.MethodGet, path, nil)
	require.Equal(o, http.StatusOK, got.StatusCode, got.body)
	return got.body
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// form opens the page of a decision, and returns what its form would send.
func (o *office) form(as, key, decision string) url.Values {
	o.Helper()
	return formOf(o.page(as, "/decide?"+url.Values{"key": {key}, "decision": {decision}}.Encode()))
}

func formOf(page string) url.Values {
	form := url.Values{}
	for _, input := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(input[1], html.UnescapeString(input[2]))
	}
	return form
}

// decide goes through all pages of a decision.
func (o *office) decide(as, key, decision string, fields ...string) reply {
	o.Helper()
	form := o.form(as, key, decision)
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	if form.Get("step") != "store" {
		confirm := o.do(as, http.MethodPost, "/decide", form)
		if confirm.StatusCode != http.StatusOK {
			return confirm
		}
		form = formOf(confirm.body)
	}
	return o.do(as, http.MethodPost, "/decide", form)
}

func TestWhatAConsoleNeeds(t *testing.T) {
	processor, err := payments.New(payments.NewMemoryStore(), payments.Services{}, payments.Config{})
	require.NoError(t, err)
	author := func(*http.Request) (string, error) { return "ops", nil }
	for field, config := range map[string]console.Config{
		"author":    {Processor: processor},
		"processor": {Author: author},
		"secret":    {Processor: processor, Author: author, Secret: moneymovement.NewSecret("short")},
	} {
		page, err := console.New(config)
		assert.Nil(t, page)
		invalid, ok := errors.AsType[*sdkerrors.InvalidInput](err)
		require.True(t, ok, "%s: %v", field, err)
		require.Len(t, invalid.Fields, 1)
		assert.Equal(t, field, invalid.Fields[0].Field)
	}
}

// Each decision goes from its page over its confirmation into the record, with its author.
func TestDecisions(t *testing.T) {
	o := newOffice(t)
	doubtful := func(r *payments.Record) { r.MayHaveLeft = true }
	o.add("retry", nil)
	o.add("cancel", nil)
	o.add("bounds", func(r *payments.Record) {
		fee := decimal.NewFromInt(1)
		r.Bounds = dapi.Bounds{MaxFee: &fee}
		r.RefusedQuote = &dapi.Quote{SourceAmount: decimal.NewFromInt(25), SourceCurrency: "USDC",
			DestinationAmount: decimal.NewFromInt(20), DestinationCurrency: "EUR", ExpiresAt: time.Now()}
	})
	o.add("paid", doubtful)
	o.add("unpaid", doubtful)
	for key, c := range map[string]struct {
		decision string
		fields   []string
		state    moneymovement.PaymentState
		decided  payments.Decided
	}{
		"retry": {"retry", nil, moneymovement.PaymentAccepted, payments.Decided{What: "retry"}},
		"cancel": {"cancel", []string{"note", " sent twice "}, moneymovement.PaymentRefused,
			payments.Decided{What: "cancel", Note: "sent twice"}},
		"bounds": {"new-bounds", []string{"max-fee", "2.50", "compare", "refused", "tolerance", "0.01"},
			moneymovement.PaymentAccepted, payments.Decided{What: "new bounds"}},
		"paid": {"was-paid", []string{"payout", "po_7", "books", "yes"}, moneymovement.PaymentPaid,
			payments.Decided{What: "was paid", PayoutID: "po_7"}},
		"unpaid": {"was-not-paid", []string{"note", "the ledger has no entry", "books", "yes"},
			moneymovement.PaymentRefused, payments.Decided{What: "was not paid", Note: "the ledger has no entry"}},
	} {
		got := o.decide("Zoë", key, c.decision, c.fields...)
		require.Equal(t, http.StatusSeeOther, got.StatusCode, "%s: %s", key, got.body)
		assert.Equal(t, "payment?key="+key+"&stored=yes", got.Header.Get("Location"), "it stays below the prefix")
		record := o.get(key)
		assert.Equal(t, c.state, record.State)
		require.Len(t, record.Decisions, 1)
		made := record.Decisions[0]
		assert.Equal(t, "Zoë", made.By)
		assert.Equal(t, []string{c.decided.What, c.decided.Note, string(c.decided.PayoutID)},
			[]string{made.What, made.Note, string(made.PayoutID)})
		shown := o.page("Zoë", "/payment?key="+key+"&stored=yes")
		assert.Contains(t, shown, "Your decision is stored: "+c.decided.What)
		assert.Contains(t, shown, "Zoë: "+c.decided.What)
		assert.NotContains(t, o.page("somebody else", "/payment?key="+key+"&stored=yes"), "Your decision")
	}
	bounds := o.get("bounds").Bounds
	assert.Equal(t, "2.5", bounds.MaxFee.String())
	assert.Equal(t, "0.01", bounds.QuoteTolerance.String())
	assert.Equal(t, "20", bounds.NoWorseThan.DestinationAmount.String())
}

// What a person confirms is what is stored, and going on shows it first.
func TestConfirmationShowsWhatWillBeStored(t *testing.T) {
	o := newOffice(t)
	o.add("a", nil)
	form := o.form("ops", "a", "new-bounds")
	form.Set("max-fee", "3.25")
	confirm := o.do("ops", http.MethodPost, "/decide", form)
	require.Equal(t, http.StatusOK, confirm.StatusCode)
	assert.Contains(t, confirm.body, "<dt>highest fee</dt><dd>3.25</dd>")
	assert.Empty(t, o.get("a").Decisions, "nothing is stored before the confirmation")
	for field, value := range map[string]string{"max-fee": "a lot", "min-destination-amount": "1,000",
		"tolerance": "5"} {
		wrong := o.decide("ops", "a", "new-bounds", field, value)
		assert.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode, field)
		assert.Contains(t, wrong.body, `value="`+value+`"`, "what was typed is kept")
	}
	long := o.decide("ops", "a", "cancel", "note", strings.Repeat("n", 1001))
	assert.Equal(t, http.StatusUnprocessableEntity, long.StatusCode)
	assert.Contains(t, long.body, "has 1001 characters")
	o.add("b", func(r *payments.Record) { r.MayHaveLeft = true })
	unread := o.decide("ops", "b", "was-not-paid", "note", "n")
	assert.Equal(t, http.StatusUnprocessableEntity, unread.StatusCode)
	assert.Contains(t, unread.body, "Look at the service&#39;s books first")
	assert.Empty(t, o.get("a").Decisions)
	assert.Empty(t, o.get("b").Decisions)
}

// Without a limit of what arrives, the processor adds the price that was refused. The page says so before it is stored.
func TestThePriceThatNewBoundsCompareWith(t *testing.T) {
	price := func(arrives int64) *dapi.Quote {
		return &dapi.Quote{SourceAmount: decimal.NewFromInt(25), SourceCurrency: "USDC",
			DestinationAmount: decimal.NewFromInt(arrives), DestinationCurrency: "EUR", ExpiresAt: time.Now()}
	}
	refused, kept := price(20), price(21)
	unreadable := price(20)
	unreadable.DestinationCurrency = ""
	atLeast := []string{"min-destination-amount", "19", "destination-currency", "eur"}
	two, three, away := []string{"refused", "none"}, []string{"kept", "refused", "none"}, "is not offered"
	choose := func(value string) []string { return []string{"compare", value} }
	for name, c := range map[string]struct {
		kept, refused *dapi.Quote
		fields        []string
		offers        []string // the first one is chosen
		stored        *dapi.Quote
		problem       string
	}{
		"as the page is":    {nil, refused, nil, two, refused, ""},
		"without the field": {nil, refused, choose(""), two, refused, ""},
		"no price":          {nil, refused, choose("none"), two, nil, "write the lowest amount that may arrive"},
		"the lowest amount": {nil, refused, append(choose("none"), atLeast...), two, nil, ""},
		"both":              {nil, refused, atLeast, two, refused, ""},
		"the earlier one":   {kept, refused, nil, three, kept, ""},
		"the later one":     {kept, refused, choose("refused"), three, refused, ""},
		"none was refused":  {kept, nil, choose("none"), []string{"kept", "none"}, nil, ""},
		"nothing is known":  {nil, nil, nil, nil, nil, ""},
		"one without terms": {nil, unreadable, nil, nil, nil, ""},
		"an unknown value":  {kept, refused, choose("best"), three, nil, away},
		"one that is away":  {nil, refused, choose("kept"), two, nil, away},
		"none is offered":   {nil, nil, choose("refused"), nil, nil, away},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			o.add("a", func(r *payments.Record) { r.Bounds.NoWorseThan, r.RefusedQuote = c.kept, c.refused })
			page := o.page("ops", "/decide?key=a&decision=new-bounds")
			var offers []string
			for i, radio := range regexp.MustCompile(`name="compare" value="(\w+)"( checked)?`).
				FindAllStringSubmatch(page, -1) {
				offers = append(offers, radio[1])
				assert.Equal(t, i == 0, radio[2] != "")
			}
			assert.Equal(t, c.offers, offers)
			form := o.form("ops", "a", "new-bounds")
			if len(c.offers) > 0 {
				form.Set("compare", c.offers[0])
			}
			for i := 0; i < len(c.fields); i += 2 {
				form.Set(c.fields[i], c.fields[i+1])
			}
			form.Del("step")
			shown := o.do("ops", http.MethodPost, "/decide", form)
			if c.problem != "" {
				assert.Equal(t, http.StatusUnprocessableEntity, shown.StatusCode)
				assert.Contains(t, shown.body, c.problem)
				form.Set("step", "store")
				shown = o.do("ops", http.MethodPost, "/decide", form)
				assert.Equal(t, http.StatusUnprocessableEntity, shown.StatusCode)
				assert.Empty(t, o.get("a").Decisions)
				return
			}
			require.Equal(t, http.StatusOK, shown.StatusCode, shown.body)
			form.Set("step", "store")
			stored := o.do("ops", http.MethodPost, "/decide", form)
			require.Equal(t, http.StatusSeeOther, stored.StatusCode, stored.body)
			got := o.get("a").Bounds.NoWorseThan
			if c.stored == nil {
				assert.Nil(t, got)
				assert.NotContains(t, shown.body, "no worse than")
				return
			}
			require.NotNil(t, got)
			assert.Equal(t, c.stored.DestinationAmount.String(), got.DestinationAmount.String())
			assert.Contains(t, shown.body, "<dt>no worse than</dt><dd>25 USDC for "+got.DestinationAmount.String()+" EUR")
		})
	}
}

// A form of another site has the person's login, and is refused before anything is read.
func TestAFormOfAnotherSite(t *testing.T) {
	o := newOffice(t)
	o.add("a", nil)
	form := o.form("ops", "a", "retry") // even with a token
	own := o.server.URL
	for name, headers := range map[string][]string{
		"another site":      {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
		"another subdomain": {"Sec-Fetch-Site", "same-site", "Origin", "https://evil.example"},
		"an old browser":    {"Origin", "https://evil.example"},
		"a frame":           {"Origin", "null"},
	} {
		got := o.do("ops", http.MethodPost, "/decide", form, headers...)
		assert.Equal(t, http.StatusForbidden, got.StatusCode, name)
		assert.Contains(t, got.body, "Nothing was stored")
	}
	assert.Zero(t, o.store.writes.Load())
	got := o.do("ops", http.MethodPost, "/decide", form, "Sec-Fetch-Site", "same-origin", "Origin", own)
	assert.Equal(t, http.StatusSeeOther, got.StatusCode, got.body)
}

func TestTokens(t *testing.T) {
	o := newOffice(t)
	o.add("a", nil)
	o.add("b", nil)
	post := func(as string, form url.Values) int {
		return o.do(as, http.MethodPost, "/decide", form).StatusCode
	}
	form := o.form("ops", "a", "retry")
	with := func(name, value string) url.Values {
		changed := url.Values{}
		for k, v := range form {
			changed[k] = v
		}
		changed.Set(name, value)
		return changed
	}
	last := form.Get("token")[:len(form.Get("token"))-2]
	for name, changed := range map[string]url.Values{
		"no token":         with("token", ""),
		"a made token":     with("token", rand.Text()),
		"a changed token":  with("token", last+"xx"),
		"another payment":  with("key", "b"),
		"another position": with("seen", "99"),
	} {
		assert.Equal(t, http.StatusForbidden, post("ops", changed), name)
	}
	assert.Equal(t, http.StatusForbidden, post("somebody else", form), "a token is of one person")
	other := newOffice(t)
	other.add("a", nil)
	assert.Equal(t, http.StatusForbidden, post("ops", other.form("ops", "a", "retry")), "a token is of one secret")
	o.now.Store(31 * 60)
	expired := o.do("ops", http.MethodPost, "/decide", form)
	assert.Equal(t, http.StatusForbidden, expired.StatusCode)
	assert.Contains(t, expired.body, "half an hour")
	assert.Zero(t, o.store.writes.Load())
	o.now.Store(29 * 60)
	assert.Equal(t, http.StatusSeeOther, post("ops", form))
	assert.Equal(t, http.StatusForbidden, o.do("ops", http.MethodPost, "/reconcile", form).StatusCode)
}

// With one secret, a page of one process is good for another one.
func TestProcessesShareASecret(t *testing.T) {
	shared := func(c *console.Config) { c.Secret = moneymovement.NewSecret(strings.Repeat("s", 32)) }
	one, two := newOffice(t, shared), newOffice(t, shared)
	one.add("a", nil)
	two.add("a", nil)
	got := two.do("ops", http.MethodPost, "/decide", one.form("ops", "a", "retry"))
	assert.Equal(t, http.StatusSeeOther, got.StatusCode, got.body)
}

// Without a person, there is nothing to read, and nothing is stored.
func TestARequestWithoutAPerson(t *testing.T) {
	o := newOffice(t)
	o.add("invoice-1", nil)
	form := o.form("ops", "invoice-1", "retry")
	for _, as := range []string{"", "no name", "no name  "} {
		for _, path := range []string{"/", "/payment?key=invoice-1", "/decide?key=invoice-1&decision=retry",
			"/reconcile", "/style.css", "/nowhere"} {
			got := o.do(as, http.MethodGet, path, nil)
			assert.Equal(t, http.StatusForbidden, got.StatusCode, path)
			assert.Equal(t, "Log in first.\n", got.body)
		}
		assert.Equal(t, http.StatusForbidden, o.do(as, http.MethodPost, "/decide", form).StatusCode)
	}
	assert.Zero(t, o.store.writes.Load())
	assert.Empty(t, o.get("invoice-1").Decisions)
}

// Of two people who decide at once, one decision is stored, and the other person learns of it.
func TestTwoPeopleWhoDecideAtOnce(t *testing.T) {
	o := newOffice(t)
	for round := range 20 {
		key := fmt.Sprint("payment-", round)
		o.add(key, nil)
		forms := map[string]url.Values{"one": o.form("one", key, "retry"), "two": o.form("two", key, "retry")}
		replies := map[string]reply{}
		var mu sync.Mutex
		var both sync.WaitGroup
		for as, form := range forms {
			both.Go(func() {
				got := o.do(as, http.MethodPost, "/decide", form)
				mu.Lock()
				defer mu.Unlock()
				replies[as] = got
			})
		}
		both.Wait()
		first, second := "one", "two"
		if replies[first].StatusCode != http.StatusSeeOther {
			first, second = second, first
		}
		assert.Equal(t, http.StatusSeeOther, replies[first].StatusCode)
		assert.Equal(t, http.StatusConflict, replies[second].StatusCode)
		assert.Contains(t, replies[second].body, "Nothing was stored.")
		record := o.get(key)
		require.Len(t, record.Decisions, 1)
		assert.Equal(t, first, record.Decisions[0].By)
		assert.Contains(t, o.page(second, "/payment?key="+key), first+": retry")
	}
	stale := o.do("two", http.MethodGet, "/decide?key=payment-1&decision=was-paid", nil)
	assert.Equal(t, http.StatusConflict, stale.StatusCode, "a link to a decision that is not possible")
}

func TestAPaymentThatIsBeingPaid(t *testing.T) {
	o := newOffice(t)
	o.add("a", func(r *payments.Record) { r.State = moneymovement.PaymentAccepted })
	form := o.form("ops", "a", "retry")
	_, _, err := o.store.Store.Claim(t.Context(),
		payments.Claim{Owner: "worker", Key: "a", Now: time.Now(), For: time.Hour})
	require.NoError(t, err)
	got := o.do("ops", http.MethodPost, "/decide", form)
	assert.Equal(t, http.StatusConflict, got.StatusCode)
	assert.Contains(t, got.body, "A call is being made for this payment right now")
	assert.Empty(t, o.get("a").Decisions)
}

// A page reads, whatever is in its address, and a form reaches one address alone.
func TestReadingStoresNothing(t *testing.T) {
	o := newOffice(t)
	o.add("a", nil)
	form := o.form("ops", "a", "retry")
	for _, path := range []string{"/?" + form.Encode(), "/payment?" + form.Encode(), "/decide?" + form.Encode(),
		"/reconcile?" + form.Encode()} {
		assert.Equal(t, http.StatusOK, o.do("ops", http.MethodGet, path, nil).StatusCode, path)
		assert.Equal(t, http.StatusOK, o.do("ops", http.MethodHead, path, nil).StatusCode, path)
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		assert.Equal(t, http.StatusMethodNotAllowed, o.do("ops", method, "/decide?"+form.Encode(), nil).StatusCode)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, o.do("ops", http.MethodPost, "/payment", form).StatusCode)
	inAddress := o.do("ops", http.MethodPost, "/decide?"+form.Encode(), url.Values{})
	assert.Equal(t, http.StatusForbidden, inAddress.StatusCode, "a form is in the body")
	assert.Zero(t, o.store.writes.Load())
}

func TestHeadersOfEachPage(t *testing.T) {
	o := newOffice(t)
	o.add("a", nil)
	for _, path := range []string{"/", "/payment?key=a", "/payment?key=b", "/decide?key=a&decision=retry",
		"/style.css", "/nowhere"} {
		header := o.do("ops", http.MethodGet, path, nil).Header
		policy := header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "style-src 'self'", "form-action 'self'",
			"frame-ancestors 'none'", "base-uri 'none'"} {
			assert.Contains(t, policy, part)
		}
		assert.NotContains(t, policy, "unsafe")
		assert.Equal(t, "no-store", header.Get("Cache-Control"))
		assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		assert.Equal(t, "same-origin", header.Get("Referrer-Policy"))
	}
	for _, path := range []string{"/", "/payment?key=a", "/decide?key=a&decision=new-bounds", "/reconcile"} {
		page := o.page("ops", path)
		assert.NotRegexp(t, `(?i)<script|javascript:|\son\w+=|style=|https?://`, page, "nothing from elsewhere")
	}
}

// What a service, a submitter or an operator wrote is text, wherever it is shown.
func TestHostileText(t *testing.T) {
	o := newOffice(t)
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>'&`
	o.add(evil, func(r *payments.Record) {
		r.Account = dapi.ClientID(evil)
		r.Payout.ContactID, r.Payout.PaymentReference = dapi.ContactID(evil), evil
		r.Reason = &payments.Reason{Code: payments.ReasonCode(evil), Message: evil, RequestID: evil,
			Blockers: []sdkerrors.Blocker{{Message: evil}}}
		r.PayoutID, r.TransactionHash, r.WaitsFor = dapi.PayoutID(evil), evil, evil
		r.Metadata = map[string]string{evil: evil}
		r.Decisions = []payments.Decided{{At: time.Now(), By: evil, What: evil, Note: evil}}
	})
	escaped := url.QueryEscape(evil)
	for _, path := range []string{"/", "/?account=" + escaped, "/?state=all&after=" + escaped,
		"/payment?key=" + escaped, "/decide?decision=cancel&key=" + escaped, "/payment?key=x" + escaped, "/?state=" + escaped} {
		body := o.do(evil, http.MethodGet, path, nil).body
		assert.NotContains(t, body, "<script", path)
		assert.NotContains(t, body, "<img", path)
		assert.Contains(t, body, "&lt;script&gt;", path)
	}
	confirmed := o.decide("ops", evil, "cancel", "note", evil)
	require.Equal(t, http.StatusSeeOther, confirmed.StatusCode, confirmed.body)
	assert.Equal(t, evil, o.get(evil).Decisions[1].Note)
}

// Thousands of payments are read a page at a time, in each state and of each account.
func TestManyPayments(t *testing.T) {
	o := newOffice(t)
	for i := range 130 {
		o.add(fmt.Sprintf("invoice-%04d", i), func(r *payments.Record) {
			if i%2 == 1 {
				r.Account = "cl_2"
			}
			if i >= 120 {
				r.State = moneymovement.PaymentCompleted
			}
		})
	}
	link := regexp.MustCompile(`<td data-label="Key"><a href="payment\?key=([^"]+)">`)
	next := regexp.MustCompile(`<a href="\./(\?[^"]+)" rel="next">`)
	walk := func(path string) (keys []string, pages int) {
		for {
			pages++
			page := o.page("ops", path)
			for _, found := range link.FindAllStringSubmatch(page, -1) {
				keys = append(keys, found[1])
			}
			following := next.FindStringSubmatch(page)
			if following == nil {
				return keys, pages
			}
			path = "/" + html.UnescapeString(following[1])
		}
	}
	for path, want := range map[string][2]int{"/": {120, 3}, "/?state=all": {130, 3}, "/?state=completed": {10, 1},
		"/?state=all&account=cl_2": {65, 2}, "/?state=refused": {0, 1}} {
		keys, pages := walk(path)
		assert.Len(t, keys, want[0], path)
		assert.Equal(t, want[1], pages, path)
		assert.IsIncreasing(t, keys, path)
	}
	page := o.page("ops", "/")
	assert.Regexp(t, `aria-current="page">needs_decision <span>120</span>`, page)
	assert.Regexp(t, `>completed <span>10</span>`, page)
	assert.Contains(t, o.page("ops", "/?state=refused"), "There are no such payments.")
}

// An error of the store is not shown: it names servers. After a write, the page does not say that nothing was stored.
func TestAStoreThatFails(t *testing.T) {
	o := newOffice(t)
	o.add("a", nil)
	form := o.form("ops", "a", "retry")
	o.store.down.Store(true)
	list := o.do("ops", http.MethodGet, "/", nil)
	assert.Equal(t, http.StatusServiceUnavailable, list.StatusCode)
	decided := o.do("ops", http.MethodPost, "/decide", form)
	assert.Equal(t, http.StatusServiceUnavailable, decided.StatusCode)
	assert.Contains(t, decided.body, "may be stored or not")
	assert.NotContains(t, list.body+decided.body, "db-7")
	missing := o.do("ops", http.MethodGet, "/payment?key=other", nil)
	assert.Equal(t, http.StatusNotFound, missing.StatusCode)
}

// Without services, the console says what a reconciliation needs.
func TestReconcileWithoutServices(t *testing.T) {
	o := newOffice(t)
	form := formOf(o.page("ops", "/reconcile"))
	form.Set("account", "cl_1")
	form.Set("from", "2026-03-01")
	form.Set("to", "2026-03-01")
	got := o.do("ops", http.MethodPost, "/reconcile", form)
	assert.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	assert.Contains(t, got.body, "have no platform API")
	form.Set("from", "yesterday")
	assert.Contains(t, o.do("ops", http.MethodPost, "/reconcile", form).body, "Write both days")
}

func TestAConsoleWithoutASlashAtItsEnd(t *testing.T) {
	processor, err := payments.New(payments.NewMemoryStore(), payments.Services{}, payments.Config{})
	require.NoError(t, err)
	page, err := console.New(console.Config{Processor: processor,
		Author: func(*http.Request) (string, error) { return "ops", nil }})
	require.NoError(t, err)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		http.StripPrefix(prefix, page).ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{prefix, prefix + "?key=a"} {
		w := get(path)
		assert.Equal(t, http.StatusSeeOther, w.Code)
		assert.Equal(t, "./payments/", w.Header().Get("Location"))
	}
	// Without a pattern of the mux that ends in a slash, other paths begin like the prefix.
	for _, path := range []string{"X/https:evil.example", "X/..//evil.example", "X", "payment"} {
		w := get(prefix + path)
		assert.Equal(t, http.StatusNotFound, w.Code, path)
		assert.Empty(t, w.Header().Get("Location"))
	}
}
