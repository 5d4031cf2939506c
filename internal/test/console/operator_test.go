package console_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Find asks the host, which has more requests than the page shows.
func TestSearchFindsARequest(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	payout := payer.pay("12.50", "invoice-42")
	for range 450 {
		p.send("GET", "/utils/rates/EUR", "")
	}
	p.until(`document.querySelectorAll("#request-table tbody tr").length === 400 && !` + shown + `.includes("invoice-42")`)
	p.fill("#find-requests", "invoice-42")
	p.see("/dapi/v1/payouts")
	p.until(`!` + shown + `.includes("/utils/rates")`) // only what fits
	p.fill("#find-requests", string(payout.ID))
	p.see("/dapi/v1/payouts/" + string(payout.ID) + "/confirm")

	p.click("tr[data-id] button")
	p.see("Request body")
	open := eval[string](p, `document.getElementById("request-title").innerText`)
	p.reload()
	p.until(`document.getElementById("request-title")?.innerText === ` + quoted(open))
	assert.Equal(t, string(payout.ID), eval[string](p, `document.getElementById("find-requests").value`),
		"the search survives a reload, too")
}

// A payout says whom it pays and what arrives, and leads to its requests and its entries.
func TestPayoutLinksToItsRequestsAndEntries(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	asked := payer.asked("12.50")
	asked.PaymentReference = "RF-7"
	paid, err := payer.Payouts.Pay(t.Context(), asked, moneymovement.Key("invoice-42"), dapi.PayTerms{})
	require.NoError(t, err)
	payout := paid.Payout
	payer.pay("3", "invoice-43")
	p.see("invoice-43")
	p.fill("#find-payouts", "invoice-42")
	p.until(`document.querySelectorAll("#panel-payouts .list tbody tr").length === 1`)
	for _, text := range []string{string(payout.ID), "Example supplier", "12.5 USDC", "invoice-42", "RF-7", "arrives"} {
		assert.NotEmpty(t, rowsWith(p, "payouts", text), text)
		if text != "arrives" {
			assert.Contains(t, eval[string](p, `document.querySelector("#panel-payouts .present").innerText`), text)
		}
	}
	p.press("Entries of this payout")
	p.until(`!document.getElementById("panel-ledger").hidden`)
	p.see("Payout settlement")
	assert.NotContains(t, p.text(), "Deposit")
	p.open("payouts")
	p.press("Requests of this payout")
	p.see("/dapi/v1/payouts/" + string(payout.ID) + "/confirm")
	assert.NotContains(t, p.text(), "/dapi/v1/contacts")
}

// What a stopped host does not get is not sent. What was filled in stays, and the note goes when the host is back.
func TestFormsSurviveAStoppedHost(t *testing.T) {
	t.Parallel()
	p := openPage(t, "balances")
	p.fill("#credit-amount", "7.25")
	p.offline(func() {
		p.press("Credit")
		p.told("Not sent. The host cannot be reached.")
		assert.Equal(t, "7.25", eval[string](p, `document.getElementById("credit-amount").value`))
		p.see("Credit an account")
	})
	p.until(`document.getElementById("result").hidden`)
	p.until(`!document.querySelector('#panel-balances [data-key="problem"]')`)
	p.press("Credit")
	p.told("7.25 USDC from the faucet; the balance is 7.25.")
}

// Every section has its heading before the host has responded, and says that it connects.
func TestSectionShowsItsHeadingWhileItLoads(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	p.expect("ERR_") // the connections that end
	p.silent.Store(true)
	p.do(chromedp.Reload())
	for _, section := range sections {
		p.click("#tab-" + section)
		p.see("Connecting to the host…")
		heading := eval[string](p, `document.querySelector("[role=tabpanel]:not([hidden]) h2").innerText`)
		assert.NotEmpty(t, heading, section)
	}
	p.silent.Store(false)
	p.server.CloseClientConnections()
	p.until(`document.getElementById("live").dataset.state === "on"`)
	for _, section := range sections {
		p.open(section)
	}
}

// The list is one stop of the Tab key. Arrows move within it.
func TestLongListIsOneTabStop(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	for range 50 {
		p.send("GET", "/utils/rates/EUR", "")
	}
	p.until(`document.querySelectorAll("#request-table tbody tr").length === 50`)
	assert.Equal(t, 1, eval[int](p, `document.querySelectorAll('#request-table button[tabindex="0"]').length`))
	p.tabTo("#request-table button")
	row := `[...document.activeElement.closest("tbody").rows].indexOf(document.activeElement.closest("tr"))`
	p.key(kb.ArrowDown, kb.ArrowDown)
	assert.Equal(t, 2, eval[int](p, row))
	p.key(kb.End)
	assert.Equal(t, 49, eval[int](p, row))

	payer := newCustomer(p, "acme@example.com")
	for i := range 3 {
		payer.pay("1", "invoice-"+strconv.Itoa(i))
	}
	p.open("ledger")
	p.see("Payout settlement")
	assert.Equal(t, 1, eval[int](p, `[...document.querySelectorAll('#ledger-table button[tabindex="0"]')]
		.filter((button) => button.checkVisibility()).length`))
	p.tabTo("#ledger-table button")
	p.key(kb.ArrowDown)
	assert.Equal(t, 1, eval[int](p, row))
	p.key(kb.End, kb.Enter)
	p.until(`document.activeElement.id === "payouts-present"`)
}

// Beside a long list, a detail opens in view, and the list stays where it is.
func TestDetailOpensBesideItsRow(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	for i := range 30 {
		payer.pay("1", "invoice-"+strconv.Itoa(i))
	}
	for section, title := range map[string]string{"requests": "request-title", "payouts": "payouts-present"} {
		p.open(section)
		last := `[...document.querySelectorAll("#panel-` + section + ` .list tbody button")].at(-1)`
		p.until(last)
		p.clickOn(last)
		p.until(`document.activeElement.id === ` + quoted(title))
		p.until(`[document.activeElement, ` + last + `].every((e) => {
			const box = e.getBoundingClientRect();
			return box.top >= 0 && box.bottom <= innerHeight;
		})`)
	}
}

// A time has its day as soon as that is not today's.
func TestTimesOfOtherDaysShowTheDate(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	newCustomer(p, "acme@example.com").pay("1", "invoice-1")
	day := p.host.Now().UTC().Format(time.DateOnly)
	for _, section := range []string{"requests", "ledger", "payouts", "verification"} {
		p.open(section)
		row := `document.querySelector("#panel-` + section + ` tbody time")`
		p.until(row)
		assert.NotContains(t, eval[string](p, row+".innerText"), day)
	}
	p.send("POST", "/_host/clock", `{"advance":"24h"}`)
	for _, section := range []string{"requests", "ledger", "payouts", "verification"} {
		p.open(section)
		p.see(day)
	}
}

// The result of a request is visible beside an open one and beside a long name, and on a phone.
func TestResultIsScrolledIntoView(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	name := "a.name.of.about.ninety.letters.that.nobody.ever.has.but.which.is.valid@department.example.com"
	payer := newCustomer(p, name)
	payer.pay("12.50", "invoice-42-which-has-a-long-key-as-some-programs-make-them-of-several-parts")
	p.see("/confirm")
	visible := `[...document.querySelectorAll("#request-table .result-cell .badge")].every((badge) => {
		const box = badge.getBoundingClientRect(), list = badge.closest(".scroll").getBoundingClientRect();
		return box.left >= list.left && box.right <= list.right + 1;
	})`
	for _, width := range []int64{1280, 1024, 320} {
		p.size(width, 900)
		p.until("innerWidth === " + strconv.FormatInt(width, 10))
		p.until(visible)
	}
	p.size(1280, 900)
	p.click("tr[data-id] button")
	p.see("Request body")
	p.until(visible)
}

// Only a write that was repeated with its key is another attempt.
func TestOnlyRequestsWithARepeatedKeyAreAttempts(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	for range 3 {
		p.send("GET", "/utils/rates/EUR", "")
		p.send("POST", "/dapi/v1/contacts", "{}")
	}
	p.until(`document.querySelectorAll("#request-table tbody tr").length === 6`)
	assert.NotContains(t, p.text(), "attempt")
}

// A test payout needs no program, and shows its requests.
func TestTestPayoutIsSentFromThePage(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts", sandbox.WithInstantProgress())
	newCustomer(p, "acme@example.com")
	p.press("Send a test payout")
	p.see("acme@example.com (cl_")
	p.press("Send the payout")
	p.told("is paid to a bank account.")
	p.see("Now: Completed")
	p.see("Test supplier")
	p.press("Requests of this payout")
	p.see("/confirm")
}

// On a phone, the panel of a payout or a request opens inside the visible part of the page.
func TestPanelOpensInViewOnANarrowScreen(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	for i := range 20 {
		payer.pay("1", "invoice-"+strconv.Itoa(i))
	}
	p.until(`document.querySelectorAll("#panel-payouts .list tbody tr").length === 20`)
	p.size(320, 640)
	p.until("innerWidth === 320")
	for section, title := range map[string]string{"requests": "request-title", "payouts": "payouts-present"} {
		p.open(section)
		p.until(`document.querySelectorAll("#panel-` + section + ` .list tbody tr").length >= 20`)
		p.clickOn(`document.querySelectorAll("#panel-` + section + ` .list tbody tr button")[9]`)
		p.until(`document.activeElement.id === ` + quoted(title))
		p.until(`(() => {
			const box = document.activeElement.getBoundingClientRect();
			return box.top >= 0 && box.bottom <= innerHeight / 2;
		})()`)
	}
}

// What -seed did is marked, and hidden at first, in each list that has it.
func TestRequestsOfTheSeedAreHiddenAtFirst(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	own := p.host.Credentials()
	platform, err := dapi.NewIntegrator(p.server.URL, dapi.Developer{Email: own.Email, Key: own.Key},
		moneymovement.WithUserAgent("moneymove-seed/0.1.0"))
	require.NoError(t, err)
	_, err = platform.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(7), Currency: dapi.USDC})
	require.NoError(t, err)
	newCustomer(p, "acme@example.com")
	p.see("/dapi/v1/contacts")
	assert.Len(t, rowsWith(p, "requests", "/sandbox/deposits"), 1, "that of the customer")
	p.press("Show 3 of -seed")
	p.until(`document.querySelectorAll("#panel-requests tbody tr").length >= 3`)
	rows := rowsWith(p, "requests", "/sandbox/deposits")
	require.Len(t, rows, 2)
	assert.Contains(t, rows[1], "seed")
	p.press("Hide 3 of -seed")

	p.open("ledger")
	p.see("Deposit")
	assert.Empty(t, rowsWith(p, "ledger", "+7 USDC"))
	p.fill("#find-ledger", "deposit")
	p.see("Show 1 of -seed")
	assert.Empty(t, rowsWith(p, "ledger", "+7 USDC"))
	p.press("Show 1 of -seed")
	rows = rowsWith(p, "ledger", "+7 USDC")
	require.Len(t, rows, 1)
	assert.Contains(t, rows[0], "seed")
}

// rowsWith are the rows of a list that have a text.
func rowsWith(p *page, section, text string) []string {
	p.Helper()
	return eval[[]string](p, `[...document.querySelectorAll("#panel-`+section+` tbody tr")].map((row) => row.innerText)
		.filter((row) => row.includes(`+quoted(text)+`))`)
}

// Each list has the same Find. The host searches, and the search survives a reload.
func TestEachListHasTheSameSearch(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	id := eval[string](p, `fetch("/_host/verifications").then((r) => r.json()).then(({ items }) => items[0].id)`)
	for section, c := range map[string]struct{ route, fits string }{
		"requests": {"requests", "/payouts/po_unknown"}, "balances": {"accounts", "acme@example.com"},
		"ledger": {"ledger", "payout funding"}, "payouts": {"payouts", "invoice-42"},
		"payins": {"payins", ""}, "verification": {"verifications", id}, "escrows": {"escrows", ""},
		"faults": {"faults", "garbage"}, "windows": {"windows", "reads"}, "settings": {"", "partner down"},
	} {
		t.Run(section, func(t *testing.T) {
			p.open(section)
			p.fill("#find-"+section, "nowhere")
			p.see("Nothing fits.")
			p.reload()
			p.see("Nothing fits.")
			if c.route != "" {
				p.mu.Lock()
				assert.True(t, slices.ContainsFunc(p.requests, func(asked string) bool {
					return strings.Contains(asked, "/_host/"+c.route+"?find=nowhere")
				}), "the host searches")
				p.mu.Unlock()
			}
			assert.Equal(t, "nowhere", eval[string](p, `document.getElementById("find-`+section+`").value`))
			if c.fits != "" {
				p.fill("#find-"+section, c.fits)
				p.until(`![...document.querySelectorAll("#panel-` + section + ` .empty")].length`)
			}
		})
	}
}

// A link to a payout shows it, whatever was searched for before, and however many are newer.
func TestLinkShowsItsPayout(t *testing.T) {
	t.Parallel()
	p := openPage(t, "payouts", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	first := payer.pay("1", "invoice-1")
	payer.pay("2", "invoice-2")
	p.fill("#find-payouts", "invoice-2")
	p.until(`document.querySelectorAll("#panel-payouts .list tbody tr").length === 1`)
	p.open("ledger")
	p.press(string(first.ID))
	p.until(`document.getElementById("payouts-present")?.innerText === ` + quoted(string(first.ID)))
}
