// Package console serves the host's page for people. It is one response: the page loads nothing from another place, and
// reaches the host only through the control routes.
//
// The folder page has its parts. index.html is the frame, with one place for the style and one for the script. The
// script is the files of scripts, one after the other.
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
)

//go:embed page
var parts embed.FS

// scripts are the files of the page's script, in this order. Each uses only what those before it define.
var scripts = []string{
	"dom.js", "format.js", "api.js", "widgets.js", "diagram.js",
	"requests.js", "money.js", "moves.js", "clock.js", "settings.js", "windows.js", "faults.js", "credentials.js",
	"main.js",
}

// Handler serves the page. The browser runs only the script and the style that are blocks of the page itself: the
// policy has their digests. So attributes such as onclick and style do nothing. The policy also forbids to make HTML or
// code from text.
func Handler() http.Handler {
	page := assemble()
	policy := policyOf(page)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", policy)
		header.Set("Cache-Control", "no-cache")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(page) // a caller that hung up needs no page
	})
}

// assemble puts the style and the script into the frame.
func assemble() []byte {
	var script bytes.Buffer
	for _, name := range scripts {
		script.Write(part(name))
	}
	page := bytes.Replace(part("index.html"), []byte("/* style */"), part("console.css"), 1)
	return bytes.Replace(page, []byte("/* script */"), script.Bytes(), 1)
}

// part returns a file of the page. It panics if there is none, which no build of the program can change.
func part(name string) []byte {
	text, err := parts.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return text
}

var (
	scriptBlock = regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`)
	styleBlock  = regexp.MustCompile(`(?s)<style[^>]*>(.*?)</style>`)
)

// policyOf returns the policy of a page: nothing but its own blocks, and requests to the host that it came from.
func policyOf(page []byte) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + digests(scriptBlock, page),
		"style-src " + digests(styleBlock, page),
		"connect-src 'self'",
		"img-src 'self' data:",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}, "; ")
}

// digests lists the digests of a page's blocks as a policy names them.
func digests(blocks *regexp.Regexp, page []byte) string {
	var sources []string
	for _, block := range blocks.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(block[1])
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	if len(sources) == 0 {
		return "'none'"
	}
	return strings.Join(sources, " ")
}
