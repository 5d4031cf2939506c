package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// patience is how long the page may take to show something. A machine that does much else is slow.
const patience = 20 * time.Second

// page is the console of a host, in a tab of its own.
type page struct {
	*testing.T
	host   *sandbox.Host
	server *httptest.Server
	tab    context.Context

	running        atomic.Pointer[sandbox.Host] // the same host, for the server
	refusing, busy atomic.Bool                  // whether every connection ends, and whether slugs cannot be read
	silent         atomic.Bool                  // whether no control responds

	mu       sync.Mutex
	requests []string // the addresses that the tab asked for
	errors   []string // what the tab wrote to the browser's console
	expected []string // texts of errors that the test causes on purpose
	also     string   // another address that the test opens on purpose
}

// openPage serves a host with controls, and opens its page at a section.
func openPage(t *testing.T, section string, options ...sandbox.Option) *page {
	t.Helper()
	needBrowser(t)
	p := &page{T: t}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	p.startHost(options...)
	p.openTab()
	p.do(chromedp.Navigate(p.server.URL + "/_console#" + section))
	p.until(`document.getElementById("live").dataset.state === "on"`)
	p.until(loaded)
	return p
}

// openTab opens a tab with a profile of its own, and closes it and the server at the end.
func (p *page) openTab() {
	p.Helper()
	tab, closeTab := chromedp.NewContext(browser.tab, chromedp.WithNewBrowserContext())
	p.tab = tab
	p.Cleanup(func() {
		closeTab() // before the server: the page holds a connection open
		p.server.CloseClientConnections()
		p.server.Close()
		p.assertClean()
	})
	require.NoError(p, chromedp.Listen(tab, p.note))
	must(tab, p.T, log.Enable, cdp.Empty{})
	must(tab, p.T, network.Enable, network.EnableParams{})
	p.size(1280, 900)
}

// reload loads the page again, in the same tab.
func (p *page) reload() {
	p.Helper()
	p.do(chromedp.Reload())
	p.until(`document.getElementById("live")?.dataset.state === "on"`)
}

// startHost puts a new host behind the server.
func (p *page) startHost(options ...sandbox.Option) {
	p.host = sandbox.New(append([]sandbox.Option{sandbox.WithControl()}, options...)...)
	p.running.Store(p.host)
}

// startAgain ends the host, and starts another one at the same address.
func (p *page) startAgain() {
	p.Helper()
	p.startHost()
	p.server.CloseClientConnections()
}

func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case p.refusing.Load():
		panic(http.ErrAbortHandler)
	case p.silent.Load() && strings.HasPrefix(r.URL.Path, "/_host"):
		<-r.Context().Done()
	case p.busy.Load() && r.URL.Path == "/_host/slugs":
		http.Error(w, "busy", http.StatusServiceUnavailable)
	default:
		p.running.Load().ServeHTTP(w, r)
	}
}

// must sends a command to the tab.
func must[P, R any](tab context.Context, t *testing.T, command cdp.Command[P, R], params P) R {
	t.Helper()
	result, err := chromedp.Call(tab, command, params)
	require.NoError(t, err)
	return result
}

// note keeps what the tab asks for and complains about.
func (p *page) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		p.requests = append(p.requests, e.URL)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.errors = append(p.errors, text)
	case *runtime.EventConsoleAPICalled:
		p.errors = append(p.errors, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		p.errors = append(p.errors, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	}
}

// assertClean fails the test if the page did what no page of the host may do.
func (p *page) assertClean() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.errors {
		known := false
		for _, expected := range p.expected {
			known = known || strings.Contains(text, expected)
		}
		assert.True(p, known, "the browser's console has: %s", text)
	}
	assert.NotEmpty(p, p.requests)
	for _, address := range p.requests {
		own := strings.HasPrefix(address, p.server.URL+"/") || strings.HasPrefix(address, "data:") ||
			p.also != "" && strings.HasPrefix(address, p.also)
		assert.True(p, own, "a request left for %s", address)
	}
}

// expect names an error that the test causes on purpose.
func (p *page) expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, text)
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	require.NoError(p, chromedp.Do(p.tab, actions...))
}

// eval returns the value of an expression in the page, or that of its promise.
func eval[T any](p *page, expression string) T {
	p.Helper()
	value, err := chromedp.Run(p.tab, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p, err, "%s", expression)
	return value
}

// until waits for an expression in the page to hold.
func (p *page) until(expression string) {
	p.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(25 * time.Millisecond) {
		if eval[bool](p, "Boolean("+expression+")") {
			return
		}
		if time.Now().After(deadline) {
			require.Fail(p, "it did not happen on the page: "+expression, "%s", p.text())
		}
	}
}

// shown is the text of the open section, with single spaces.
const shown = `document.querySelector("[role=tabpanel]:not([hidden])").innerText.replace(/\s+/g, " ")`

// loaded says that the open section shows what it read.
const loaded = `(document.querySelector("[role=tabpanel]:not([hidden]) h2") &&
	!document.querySelector('[role=tabpanel]:not([hidden]) > [data-key="connecting"]'))`

// text is what the open section shows.
func (p *page) text() string {
	p.Helper()
	return eval[string](p, shown)
}

// see waits for a text in the open section.
func (p *page) see(text string) {
	p.Helper()
	p.until(shown + `.includes(` + quoted(text) + `)`)
}

// told waits for a message about an action.
func (p *page) told(text string) {
	p.Helper()
	p.until(`document.getElementById("result").innerText.replace(/\s+/g, " ").includes(` + quoted(text) + `)`)
}

// open opens a section by its tab.
func (p *page) open(section string) {
	p.Helper()
	p.click("#tab-" + section)
	p.until(`!document.getElementById("panel-` + section + `").hidden`)
	p.until(loaded)
}

// click clicks the first visible element of a selector with the mouse.
func (p *page) click(selector string) {
	p.Helper()
	p.clickOn(`[...document.querySelectorAll(` + quoted(selector) + `)].find((e) => e.checkVisibility())`)
}

// press clicks the visible button or link with this name.
func (p *page) press(name string) {
	p.Helper()
	p.clickOn(`[...document.querySelectorAll("button, a, summary")].find((e) => e.checkVisibility() &&
		(e.getAttribute("aria-label") ?? e.innerText).trim() === ` + quoted(name) + `)`)
}

// clickOn waits until an element stands still with nothing in front of it, and clicks its middle.
func (p *page) clickOn(element string) {
	p.Helper()
	p.until(element)
	middle := `(async () => {
		const find = () => ` + element + `;
		const middleOf = (e) => {
			const { x, y, width, height } = e.getBoundingClientRect();
			return [x + width / 2, y + height / 2];
		};
		find()?.scrollIntoView({ block: "center", inline: "center" });
		const before = find() && middleOf(find());
		await new Promise((done) => setTimeout(done, 30));
		const now = find() && middleOf(find());
		const still = before && now && before.every((part, i) => part === now[i]);
		return still && find().contains(document.elementFromPoint(...now)) ? now : null;
	})()`
	for deadline := time.Now().Add(patience); ; {
		if at := eval[[]float64](p, middle); at != nil {
			p.do(chromedp.MouseClickXY(at[0], at[1]))
			return
		}
		require.False(p, time.Now().After(deadline), "it does not stand still, or something covers it: %s", element)
	}
}

// fill types a text into an input, in place of what is there.
func (p *page) fill(selector, text string) {
	p.Helper()
	p.click(selector)
	eval[bool](p, `document.querySelector(`+quoted(selector)+`).select() === undefined`)
	p.do(chromedp.KeyEvent(text))
}

// choose chooses an option of a list, by its value.
func (p *page) choose(selector, value string) {
	p.Helper()
	p.until(`document.querySelector(` + quoted(selector+` option[value="`+value+`"]`) + `)`)
	eval[bool](p, `(() => {
		const list = document.querySelector(`+quoted(selector)+`);
		list.value = `+quoted(value)+`;
		return list.dispatchEvent(new Event("change", { bubbles: true }));
	})()`)
}

// key presses keys, such as kb.Tab.
func (p *page) key(keys ...string) {
	p.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

// backTab moves the focus back.
func (p *page) backTab() {
	p.Helper()
	p.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(kb.ModifierShift)))
}

func (p *page) size(width, height int64) {
	p.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// prefer sets what the person prefers: the color scheme, and less motion.
func (p *page) prefer(scheme, motion string) {
	p.Helper()
	must(p.tab, p.T, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: motion}}})
}

// quoted writes a text as JavaScript does.
func quoted(text string) string {
	written, err := json.Marshal(text)
	if err != nil {
		return strconv.Quote(text)
	}
	return string(written)
}

// send sends a request to the host, past the page, and returns the body of the response.
func (p *page) send(method, path, body string) string {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), method, p.server.URL+path, strings.NewReader(body))
	require.NoError(p, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(p, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(p, err)
	return string(text)
}

// sendAs sends a request with a credential.
func (p *page) sendAs(authorization, method, path string) {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), method, p.server.URL+path, http.NoBody)
	require.NoError(p, err)
	request.Header.Set("Authorization", authorization)
	response, err := http.DefaultClient.Do(request)
	require.NoError(p, err)
	require.NoError(p, response.Body.Close())
}
