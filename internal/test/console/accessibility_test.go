package console_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sections are the sections of the page.
var sections = []string{"requests", "balances", "ledger", "payouts", "payins", "verification", "deals", "faults",
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
func TestAScreenReaderCanNameEverything(t *testing.T) {
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

// assertTables fails if a table has no caption, or a head without a scope.
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

func TestContrastInBothSchemes(t *testing.T) {
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
func TestFaintTextIsFound(t *testing.T) {
	t.Parallel()
	p := openPage(t, "clock")
	found := eval[[]string](p, `(() => {
		document.querySelector("h2").style.color = "rgb(200, 200, 200)";
		return `+tooFaint+`.found;
	})()`)
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "Clock")
}

func TestLessMotion(t *testing.T) {
	t.Parallel()
	p := openPage(t, "windows")
	moves := `document.getElementById("windows-on") &&
		getComputedStyle(document.getElementById("windows-on")).transitionProperty !== "none"`
	p.prefer("light", "no-preference")
	p.until(moves)
	p.prefer("light", "reduce")
	p.until("!(" + moves + ")")
}
