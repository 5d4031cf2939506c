package console_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// focus describes the element that has the focus, and whether a person sees that it has.
type focus struct {
	Is      string `json:"is"`
	Visible bool   `json:"visible"`
	Nobody  bool   `json:"nobody"`
}

const describeFocus = `(() => {
	const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
	const seen = box.width > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
	return { nobody: e === document.body || e === document.documentElement,
		is: e.tagName + "#" + e.id + " " + (e.getAttribute("aria-label") ?? e.innerText ?? "").trim().slice(0, 60),
		visible: seen && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
})()`

func (p *page) focused() focus {
	p.Helper()
	return eval[focus](p, describeFocus)
}

// tabTo presses Tab until an element has the focus.
func (p *page) tabTo(selector string) {
	p.Helper()
	for range 200 {
		p.key(kb.Tab)
		if eval[bool](p, `document.activeElement.matches(`+quoted(selector)+`)`) {
			return
		}
	}
	require.Fail(p, "Tab does not reach "+selector)
}

// Nothing is out of reach, nothing keeps the focus, and it is always visible.
func TestTabVisitsEveryControl(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	p.until(`document.getElementById("arrived").textContent.includes("po_unknown")`) // what arrives moves the list
	for _, section := range sections {
		t.Run(section, func(t *testing.T) {
			p.open(section)
			eval[bool](p, `document.querySelector(".skip").focus() === undefined`) // Tab goes on from here
			wanted := eval[int](p, `[...document.querySelectorAll("a[href], button, input, select, summary")]
				.filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0).length`)
			visited := 1
			for range wanted + 30 {
				p.key(kb.Tab)
				now := p.focused()
				if now.Nobody {
					break
				}
				visited++
				assert.True(t, now.Visible, "the focus is not visible on %s", now.Is)
			}
			assert.GreaterOrEqual(t, visited, wanted)
			assert.True(t, p.focused().Nobody || visited <= wanted+29, "the focus never leaves the page")
			p.backTab()
			assert.False(t, p.focused().Nobody, "Shift and Tab lead back")
		})
	}
}

func TestTheSkipLinkLeadsToTheContent(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	p.key(kb.Tab)
	require.Contains(t, p.focused().Is, "Skip to the content")
	assert.True(t, p.focused().Visible)
	p.key(kb.Enter)
	p.key(kb.Tab)
	assert.Contains(t, p.focused().Is, "+1 minute", "the first control of the content")
	assert.False(t, eval[bool](p, `document.getElementById("panel-clock").hidden`), "the section is still open")
}

// The tabs follow the pattern of the ARIA practices: one stop for Tab, arrows and Home and End within.
func TestTabsByTheKeyboard(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests")
	p.tabTo(`[role="tab"]`)
	for _, step := range []struct{ key, section string }{
		{kb.ArrowDown, "balances"}, {kb.ArrowRight, "ledger"}, {kb.ArrowUp, "balances"}, {kb.ArrowLeft, "requests"},
		{kb.ArrowUp, "credentials"}, {kb.ArrowDown, "requests"}, {kb.End, "credentials"}, {kb.Home, "requests"},
	} {
		p.key(step.key)
		p.until(`!document.getElementById("panel-` + step.section + `").hidden`)
		assert.Equal(t, "tab-"+step.section, eval[string](p, "document.activeElement.id"))
		assert.Equal(t, 1, eval[int](p, `document.querySelectorAll('[role="tab"][tabindex="0"]').length`))
		assert.Equal(t, "tab-"+step.section, eval[string](p, `document.querySelector('[aria-selected="true"]').id`))
	}
	p.key(kb.Tab)
	assert.NotEqual(t, "tab", eval[string](p, `document.activeElement.getAttribute("role") ?? ""`))
}

// A fault is armed, watched and disarmed without a mouse.
func TestAFaultByTheKeyboard(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	p.tabTo("#tab-requests")
	for range 7 {
		p.key(kb.ArrowDown)
	}
	p.until(`document.activeElement.id === "tab-faults" && document.getElementById("fault-kind")`)
	p.tabTo("#fault-kind")
	p.key("g") // the list jumps to garbage
	p.see(`"fault":{"kind":"garbage","status":503}`)
	p.tabTo("#fault-afterCommit")
	p.key(" ")
	p.see(`"afterCommit":true`)
	p.tabTo("button.main")
	p.key(kb.Enter)
	p.told("flt_1 waits for ConfirmPayout.")
	p.tabTo(`[aria-label="Disarm flt_1"]`)
	p.key(kb.Enter)
	p.told("flt_1 is disarmed.")
	p.until(`document.querySelector("[data-fault] .badge").innerText === "disarmed"`)
}

// The dialog takes the focus, keeps it, and gives it back.
func TestTheDialogByTheKeyboard(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	p.tabTo("#reset")
	p.key(kb.Enter)
	p.until(`document.querySelector("dialog[open]")`)
	for range 8 {
		p.key(kb.Tab)
		inside := eval[bool](p, `document.activeElement === document.body ||
			Boolean(document.activeElement.closest("dialog"))`)
		assert.True(t, inside, "%v", p.focused())
	}
	p.key(kb.Escape)
	p.until(`!document.querySelector("dialog[open]")`)
	assert.Equal(t, "reset", eval[string](p, "document.activeElement.id"))
}

// What arrives does not take the focus, and does not change what a person types.
func TestWhatArrivesDisturbsNobody(t *testing.T) {
	t.Parallel()
	p := openPage(t, "requests", sandbox.WithInstantProgress())
	payer := newCustomer(p, "acme@example.com")
	p.see("/dapi/v1/contacts")
	p.fill("#find-requests", "confirm")
	payer.pay("12.50", "invoice-42")
	p.see("/confirm")
	assert.Equal(t, "find-requests", eval[string](p, "document.activeElement.id"))
	assert.Equal(t, "confirm", eval[string](p, "document.activeElement.value"))
	assert.NotContains(t, p.text(), "/dapi/v1/contacts", "the filter holds")

	p.fill("#find-requests", " ")
	p.key(kb.Backspace)
	p.press("Pause")
	payer.pay("1", "invoice-43")
	p.see("waiting)")
	rows := eval[int](p, `document.querySelectorAll("#request-table tbody tr").length`)
	p.click("#pause")
	p.until(`document.querySelectorAll("#request-table tbody tr").length > ` + strconv.Itoa(rows))
}
