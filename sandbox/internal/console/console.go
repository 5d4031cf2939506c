// Package console serves the host's page for people. It is one file: it loads nothing from another place, and reaches
// the host only through the control routes.
package console

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
)

//go:embed index.html
var page []byte

// Handler serves the page. The browser runs only the scripts and styles that are blocks of the page itself: the policy
// has their digests. So attributes such as onclick and style do nothing; use addEventListener and element.style.
func Handler() http.Handler {
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

var (
	scripts = regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`)
	styles  = regexp.MustCompile(`(?s)<style[^>]*>(.*?)</style>`)
)

// policyOf returns the policy of a page: nothing but its own blocks, and requests to the host that it came from.
func policyOf(page []byte) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + digests(scripts, page),
		"style-src " + digests(styles, page),
		"connect-src 'self'",
		"img-src 'self' data:",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
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
