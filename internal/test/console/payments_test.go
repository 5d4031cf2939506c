package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/console"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// desk is a program that pays, with the operator's console behind a login of its own.
type desk struct {
	processor *payments.Processor
	account   *dapi.Account
	client    dapi.ClientID
	server    *httptest.Server
}

// newDesk has a payment that is completed, one whose fee is too high, and one for which there is too little money.
func newDesk(t *testing.T) *desk {
	t.Helper()
	needBrowser(t)
	host := sandbox.New(sandbox.WithInstantProgress())
	service := httptest.NewServer(host)
	t.Cleanup(service.Close)
	own := host.Credentials()
	platform, err := dapi.NewIntegrator(service.URL, dapi.Developer{Email: own.Email, Key: own.Key},
		moneymovement.WithPolling(time.Millisecond, 10*time.Millisecond))
	require.NoError(t, err)
	client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
	require.NoError(t, err)
	d := &desk{client: client.ID, account: platform.For(client.ID)}
	d.processor, err = payments.New(payments.NewMemoryStore(), payments.IntegratorServices(platform),
		payments.Config{PollEvery: 20 * time.Millisecond})
	require.NoError(t, err)
	_, err = d.processor.Resume(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.processor.Stop(context.WithoutCancel(t.Context()))) })
	d.credit(t, 100)
	contact, err := d.account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Example supplier"})})
	require.NoError(t, err)
	for key, change := range map[moneymovement.Key]func(*payments.Payment){
		"invoice-40": func(*payments.Payment) {},
		"invoice-41": func(p *payments.Payment) { p.Bounds.MaxFee = new(decimal.Decimal) },
		"invoice-42-with-a-long-name.of-the-second-reminder.2026-03-01": func(p *payments.Payment) {
			p.Payout.Amount = decimal.NewFromInt(5000)
		},
	} {
		payment := payments.Payment{Key: key, Account: d.client, Metadata: map[string]string{"invoice": string(key)},
			Payout: dapi.PayoutCreate{ContactID: contact.ID, Amount: decimal.NewFromInt(25), Currency: dapi.USDC}}
		change(&payment)
		_, err := d.processor.Submit(t.Context(), payment)
		require.NoError(t, err)
		d.await(t, key)
	}
	page, err := console.New(console.Config{Processor: d.processor, Author: d.author})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "user", Value: url.QueryEscape(r.FormValue("name")), Path: "/",
			HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, "/ops/payments/", http.StatusSeeOther)
	})
	mux.Handle("/ops/payments/", http.StripPrefix("/ops/payments", page))
	mux.HandleFunc("/favicon.ico", func(http.ResponseWriter, *http.Request) {})
	d.server = httptest.NewServer(mux)
	return d
}

func (d *desk) author(r *http.Request) (string, error) {
	cookie, err := r.Cookie("user")
	if err != nil {
		return "", err
	}
	return url.QueryUnescape(cookie.Value)
}

func (d *desk) credit(t *testing.T, amount int64) {
	t.Helper()
	_, err := d.account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(amount), Currency: dapi.USDC})
	require.NoError(t, err)
}

func (d *desk) await(t *testing.T, key moneymovement.Key) payments.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	record, err := d.processor.Await(ctx, key)
	require.NoError(t, err)
	return record
}

// loggedIn opens the console for a person.
func (d *desk) loggedIn(t *testing.T, name string) *page {
	t.Helper()
	p := &page{T: t, server: d.server}
	p.openTab()
	p.do(chromedp.Navigate(d.server.URL + "/login?name=" + url.QueryEscape(name)))
	p.reads("in the order of their keys")
	return p
}

// reads waits for a text on the page.
func (p *page) reads(text string) {
	p.Helper()
	p.until(`document.body?.innerText.replace(/\s+/g, " ").includes(` + quoted(text) + `)`)
}

// at opens a page of the console.
func (p *page) at(path string) {
	p.Helper()
	p.do(chromedp.Navigate(p.server.URL + "/ops/payments/" + path))
}

// A person finds what waits, sees why, decides with other bounds, and the payment is made.
func TestAnOperatorDecidesInTheBrowser(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int64{"a desk": {1280, 900}, "a phone": {390, 780}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			p := d.loggedIn(t, "Zoë")
			p.size(size[0], size[1])
			p.reads("needs_decision 2")
			p.press("invoice-41")
			p.reads("bound max_fee")
			p.press("New bounds")
			p.reads("It may be paid.")
			p.fill("#max-fee", "a lot")
			p.expect("422")
			p.press("Go on: see what will be stored")
			p.reads("write an amount")
			p.fill("#max-fee", "5")
			p.press("Go on: see what will be stored")
			p.reads("highest fee 5")
			p.press("Yes, store this decision")
			p.reads("Your decision is stored: new bounds.")
			p.reads("Zoë: new bounds (highest fee 5")
			record, err := d.processor.Get(t.Context(), "invoice-41")
			require.NoError(t, err)
			require.Len(t, record.Decisions, 1)
			assert.Equal(t, "Zoë", record.Decisions[0].By)
		})
	}
}

// Both have the confirmation open. The second one sees that the first one has decided.
func TestTwoOperatorsInTwoBrowsers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	one, two := d.loggedIn(t, "Ada"), d.loggedIn(t, "Grace")
	two.expect("409")
	one.at("decide?key=invoice-41&decision=cancel")
	one.fill("#note", "sent twice")
	one.press("Go on: see what will be stored")
	one.reads("note sent twice")
	two.at("decide?key=invoice-41&decision=retry")
	two.reads("Yes, store this decision")
	one.press("Yes, store this decision")
	one.reads("Your decision is stored: cancel.")
	two.press("Yes, store this decision")
	two.reads("Nothing was stored. The payment has changed since you opened it, and is refused now.")
	two.press("Look at payment invoice-41")
	two.reads(`Ada: cancel, "sent twice"`)
	two.reads("There is nothing to decide.")
}

// A page of another origin sends a form with the person's cookie, which the browser sends along.
func TestAFormOfAnotherSiteInTheBrowser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.loggedIn(t, "Ada")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<link rel="icon" href="data:,"><form method="post" action="` + d.server.URL +
			`/ops/payments/decide"><input name="key" value="invoice-41"><input name="decision" value="retry">` +
			`<input name="step" value="store"><button>Win a prize</button></form>`))
	}))
	defer other.Close()
	p.also = other.URL
	p.expect("403")
	p.do(chromedp.Navigate(other.URL + "/"))
	p.press("Win a prize")
	p.reads("The form is of another site. Nothing was stored.")
	record, err := d.processor.Get(t.Context(), "invoice-41")
	require.NoError(t, err)
	assert.Empty(t, record.Decisions)
}

// Without a login there is nothing to see.
func TestTheConsoleWithoutALogin(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := &page{T: t, server: d.server}
	p.openTab()
	p.expect("403")
	p.at("payment?key=invoice-41")
	p.reads("Log in first.")
	assert.NotContains(t, eval[string](p, "document.documentElement.innerHTML"), "invoice-41")
}

func TestReconciliationInTheBrowser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	record, err := d.processor.Get(t.Context(), "invoice-40")
	require.NoError(t, err)
	_, err = d.account.Payouts.Pay(t.Context(), *record.Payout, "by-hand", dapi.PayTerms{})
	require.NoError(t, err)
	p := d.loggedIn(t, "Ada")
	p.press("Reconciliation")
	p.fill("#account", string(d.client))
	p.press("Compare")
	p.reads("1 payments agree with the ledger")
	p.reads("No stored payment explains this entry")
}

// addresses are the pages of the console, with what each of them shows.
var addresses = map[string]string{"list": "?state=all", "payment": "payment?key=invoice-41",
	"long":   "payment?key=invoice-42-with-a-long-name.of-the-second-reminder.2026-03-01",
	"bounds": "decide?key=invoice-41&decision=new-bounds", "cancel": "decide?key=invoice-41&decision=cancel",
	"retry": "decide?key=invoice-41&decision=retry", "reconcile": "reconcile"}

// Each page fits a phone, has contrast in light and dark, names for a screen reader, and keys that reach all of it.
func TestThePagesOfTheOperatorsConsole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.loggedIn(t, "Ada")
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			p.at(address)
			for _, width := range []int64{1280, 390, 320} {
				p.size(width, 780)
				assert.LessOrEqual(t, eval[int64](p, "document.documentElement.scrollWidth"), width)
				assert.Empty(t, eval[[]string](p, `[...document.querySelectorAll("button, .button, input:not([type=hidden])")]
					.filter((e) => !e.matches("[type=radio], [type=checkbox]") && e.getBoundingClientRect().height < 44)
					.map((e) => e.outerHTML)`), "a finger hits each control")
			}
			for _, scheme := range []string{"light", "dark"} {
				p.prefer(scheme, "reduce")
				got := eval[struct {
					Texts int      `json:"texts"`
					Found []string `json:"found"`
				}](p, tooFaint)
				assert.Empty(t, got.Found, scheme)
				assert.Greater(t, got.Texts, 8, "the check reads the page")
			}
			seen := map[string]int{}
			tree := must(p.tab, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
			for _, node := range tree.Nodes {
				role := valueOf(node.Role)
				if node.Ignored || role == "" {
					continue
				}
				seen[role]++
				for _, needs := range named {
					if role == needs {
						assert.NotEmpty(t, valueOf(node.Name), "a %s has no name", role)
					}
				}
			}
			assert.Equal(t, 1, seen["main"])
			assert.Equal(t, 1, seen["banner"])
			assertTables(p)
			assert.Equal(t, 1, eval[int](p, `document.querySelectorAll("h1").length`))
			assert.Zero(t, eval[int](p, `document.querySelectorAll("script, style, [style], iframe, img").length`))
			p.keysReachAll()
		})
	}
}

// keysReachAll presses Tab through a page that does not move.
func (p *page) keysReachAll() {
	p.Helper()
	p.size(1280, 900)
	eval[bool](p, `document.querySelector(".skip").focus() === undefined`)
	wanted := eval[int](p, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), summary")]
		.filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !e.matches("[type=radio]:not(:checked)")).length`)
	visited := 1
	for range wanted + 30 {
		p.key(kb.Tab)
		now := p.focused()
		if now.Nobody {
			break
		}
		visited++
		assert.True(p, now.Visible, "the focus is not visible on %s", now.Is)
	}
	assert.GreaterOrEqual(p, visited, wanted)
}

// With -write it writes the pictures of docs/operator.md.
func TestThePicturesOfTheOperatorsConsole(t *testing.T) {
	if !*write {
		t.Skip("make console-pictures writes them")
	}
	d := newDesk(t)
	p := d.loggedIn(t, "Ada")
	for _, picture := range []struct {
		file, address, scheme string
		width, height         int64
	}{
		{"operator-list.png", "?state=all", "light", 1280, 560},
		{"operator-payment-phone.png", "payment?key=invoice-41", "dark", 390, 780},
	} {
		p.size(picture.width, picture.height)
		p.prefer(picture.scheme, "reduce")
		p.at(picture.address)
		taken, err := chromedp.Run(p.tab, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		small := smaller(t, taken)
		assert.Less(t, len(small), largest, picture.file)
		name := filepath.Join("..", "..", "..", "docs", "pictures", picture.file)
		require.NoError(t, os.WriteFile(name, small, 0o644))
	}
}
