package console_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// sections are the sections of the page.
var sections = []string{"requests", "balances", "ledger", "payouts", "payins", "verification", "escrows", "faults",
	"windows", "clock", "settings", "credentials"}

// named are the roles of what a screen reader must be able to name.
var named = []string{"button", "link", "textbox", "searchbox", "spinbutton", "combobox", "checkbox", "switch", "tab",
	"tabpanel", "table", "img", "image", "dialog", "region", "navigation", "DisclosureTriangle", "heading"}

// furnished opens the page of a host that has something to show in each section.
func furnished(t *testing.T) *page {
	t.Helper()
	p := openPage(t, "requests", withWaits())
	payer := newCustomer(p, "acme@example.com")
	payer.pay("12.50", "invoice-42")
	verify(t, payer)
	p.send(http.MethodGet, "/dapi/v1/payouts", "")
	p.send(http.MethodPost, "/_host/faults", `{"method":"POST","path":"/payouts","times":2,"fault":{"kind":"garbage"}}`)
	p.send(http.MethodPut, "/_host/settings", `{"rateLimits":true,"partnerDown":true}`)
	_, err := payer.Payouts.Get(t.Context(), "po_unknown")
	require.Error(t, err)
	return p
}

// refusedRow is the button of the request that the host refused with not_found.
const refusedRow = `[...document.querySelectorAll("#request-table tr")]
	.find((row) => row.innerText.includes("not_found"))?.querySelector("button")`

// unfold opens a section with all that it can show.
func (p *page) unfold(section string) {
	p.Helper()
	p.open(section)
	switch section {
	case "credentials":
		p.press("Show the credentials")
		p.see("BEGIN PRIVATE KEY")
	case "requests":
		p.clickOn(refusedRow)
		p.see("What to do about")
		p.see("Send it again")
	}
	eval[int](p, `[...document.querySelectorAll("main details")].map((details) => { details.open = true; }).length`)
}

// A screen reader can name every control, and the headings make an outline.
func TestEveryControlHasAnAccessibleName(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	for _, section := range sections {
		t.Run(section, func(t *testing.T) {
			p.unfold(section)
			tree := must(p.tab, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
			seen := map[string]int{}
			level := 0
			for _, node := range tree {
				role := valueOf(node.Role)
				if node.Ignored || role == "" {
					continue
				}
				seen[role]++
				if slices.Contains(named, role) {
					assert.NotEmpty(t, valueOf(node.Name), "a %s has no name", role)
				}
				if role == "heading" {
					next := levelOf(t, node)
					assert.LessOrEqual(t, next, level+1, "the heading %q skips a level", valueOf(node.Name))
					level = next
				}
			}
			assert.Equal(t, 1, seen["main"])
			assert.Equal(t, 1, seen["banner"])
			assert.Equal(t, 1, seen["contentinfo"])
			assert.Equal(t, 2, seen["navigation"])
			assert.Equal(t, len(sections), seen["tab"])
			assert.Equal(t, 1, seen["tabpanel"])
			assert.GreaterOrEqual(t, seen["status"], 2, "what happens is read aloud")
			assertTables(p)
		})
	}
}

func valueOf(value *accessibility.Value) string {
	if value == nil {
		return ""
	}
	text, err := strconv.Unquote(string(value.Value))
	if err != nil {
		return string(value.Value)
	}
	return text
}

func levelOf(t *testing.T, node *accessibility.Node) int {
	t.Helper()
	for _, property := range node.Properties {
		if property.Name == accessibility.PropertyNameLevel {
			level, err := strconv.Atoi(valueOf(property.Value))
			require.NoError(t, err)
			return level
		}
	}
	require.Fail(t, "a heading without a level")
	return 0
}

// assertTables checks that each table has a caption, and each of its headers a scope.
func assertTables(p *page) {
	p.Helper()
	assert.Zero(p, eval[int](p, `[...document.querySelectorAll("table")]
		.filter((table) => !table.caption?.innerText).length`))
	assert.Zero(p, eval[int](p, `document.querySelectorAll("th:not([scope])").length`))
	assert.Zero(p, eval[int](p, `(() => {
		const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
		return ids.length - new Set(ids).size;
	})()`), "two elements have the same id")
	assert.Zero(p, eval[int](p, `[...document.querySelectorAll("[aria-labelledby], [aria-describedby], [aria-controls], label[for]")]
		.filter((e) => ["aria-labelledby", "aria-describedby", "aria-controls", "for"].some((name) =>
			e.hasAttribute(name) && !document.getElementById(e.getAttribute(name)))).length`), "a reference leads nowhere")
}

// tooFaint lists the visible texts whose contrast is under 4.5 (3 for large ones), and the frames of controls whose
// contrast is under 3.
const tooFaint = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgba = (color) => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = color;
		canvas.fillRect(0, 0, 1, 1);
		return [...canvas.getImageData(0, 0, 1, 1).data];
	};
	const over = (top, below) =>
		top.slice(0, 3).map((part, i) => part * top[3] / 255 + below[i] * (1 - top[3] / 255)).concat(255);
	const behind = (e) => {
		if (!e) return rgba(getComputedStyle(document.body).backgroundColor);
		const own = rgba(getComputedStyle(e).backgroundColor);
		return own[3] === 255 ? own : over(own, behind(e.parentElement));
	};
	const light = (color) => color.slice(0, 3).map((part) => part / 255)
		.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
		.reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
	const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const shown = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 1;
	const found = [];
	const check = (e, color, ground, least, what) => {
		const ratio = contrast(over(rgba(color), ground), ground);
		const name = (e.innerText || e.textContent || e.id).trim().slice(0, 50);
		if (ratio < least) found.push(what + " " + ratio.toFixed(2) + ": " + name);
	};
	let texts = 0;
	for (const e of document.querySelectorAll("body *")) {
		const own = [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
		const style = getComputedStyle(e);
		if (own && shown(e) && !["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName)) {
			texts += 1;
			const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
			const state = e.closest(".state");
			const ground = state ? rgba(getComputedStyle(state.querySelector("rect")).fill) : behind(e);
			check(e, e instanceof SVGElement ? style.fill : style.color, ground, large ? 3 : 4.5, "text");
		}
		if (e.matches("input, select, button:not(.plain, .main, [role=tab], :disabled)") && shown(e)) {
			check(e, style.borderTopColor, behind(e.parentElement), 3, "frame");
		}
		if (e.matches("input:not([type=checkbox]), select") && shown(e)) check(e, style.color, behind(e), 4.5, "value");
		if (e.matches(".state rect, .edge") && shown(e)) {
			check(e, style.stroke, behind(e.closest("svg").parentElement), 3, "line");
		}
	}
	return { texts, found };
})()`

func TestTextContrastInLightAndDark(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	for _, section := range sections {
		p.unfold(section)
		for _, scheme := range []string{"light", "dark"} {
			t.Run(section+"/"+scheme, func(t *testing.T) {
				p.prefer(scheme, "reduce")
				got := eval[struct {
					Texts int      `json:"texts"`
					Found []string `json:"found"`
				}](p, tooFaint)
				assert.Empty(t, got.Found)
				assert.Greater(t, got.Texts, 20, "the check reads the page")
			})
		}
	}
}

// The check of the contrast finds what it looks for. Both are one step: the page may draw itself again at any time, and
// takes the color back then.
func TestLowContrastIsFound(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	found := eval[[]string](p, `(() => {
		document.querySelector("h2").style.color = "rgb(200, 200, 200)";
		return `+tooFaint+`.found;
	})()`)
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "Clock")
}

func TestReducedMotionIsRespected(t *testing.T) {
	t.Parallel()
	p := openPage(t, "windows")
	moves := `document.getElementById("windows-on") &&
		getComputedStyle(document.getElementById("windows-on")).transitionProperty !== "none"`
	p.prefer("light", "no-preference")
	p.until(moves)
	p.prefer("light", "reduce")
	p.until("!(" + moves + ")")
}

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

// Tab reaches every control and leaves it again, and the focus is always visible.
func TestTabReachesEveryControl(t *testing.T) {
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
func TestTabsWithTheKeyboard(t *testing.T) {
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
func TestFaultsWithTheKeyboard(t *testing.T) {
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
func TestDialogWithTheKeyboard(t *testing.T) {
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

// A request that arrives leaves the focus and the text that a person types as they are.
func TestNewRequestsDoNotMoveTheFocus(t *testing.T) {
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

// On the narrowest phone, people scroll the page down and never across. What they touch is large enough.
func TestPageFitsANarrowScreen(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	p.size(320, 640)
	p.until("innerWidth === 320")
	for _, section := range sections {
		t.Run(section, func(t *testing.T) {
			p.unfold(section)
			assert.LessOrEqual(t, eval[int](p, "document.documentElement.scrollWidth"), 320)
			across := eval[[]string](p, `[...document.querySelectorAll("main *, header *, footer *")].filter((e) => e.checkVisibility() &&
				e.getBoundingClientRect().width > 1 && !e.closest(".scroll, [role=tablist]") &&
				e.getBoundingClientRect().right > 321)
				.map((e) => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40))`)
			assert.Empty(t, across, "these stick out")
			small := eval[[]string](p, `[...document.querySelectorAll("button, input, select, summary")].filter((e) => e.checkVisibility() &&
				e.getBoundingClientRect().height < 24).map((e) => e.tagName + " " + e.textContent)`)
			assert.Empty(t, small, "smaller than 24 pixels")
		})
	}
}

// A request is in place of the list, and the way back is a button.
func TestRequestDetailOnANarrowScreen(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	p.size(320, 640)
	p.unfold("requests")
	assert.False(t, eval[bool](p, `document.getElementById("request-table").checkVisibility()`))
	p.press("Close")
	p.until(`document.getElementById("request-table").checkVisibility()`)
	p.see("acme@example.com")
}
