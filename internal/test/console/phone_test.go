package console_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// On the narrowest phone, people scroll the page down and never across. What they touch is large enough.
func TestANarrowPhone(t *testing.T) {
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
func TestARequestOnAPhone(t *testing.T) {
	t.Parallel()
	p := furnished(t)
	p.size(320, 640)
	p.unfold("requests")
	assert.False(t, eval[bool](p, `document.getElementById("request-table").checkVisibility()`))
	p.press("Close")
	p.until(`document.getElementById("request-table").checkVisibility()`)
	p.see("acme@example.com")
}
