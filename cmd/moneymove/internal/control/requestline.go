package control

import (
	"fmt"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/plaintext"
)

// RequestLine is a request, as the host's controls describe it.
type RequestLine struct {
	ID             int64     `json:"id"`
	Time           time.Time `json:"time"` // on the host's clock
	Method         string    `json:"method"`
	Path           string    `json:"path"`
	Status         int       `json:"status"` // 0 if the connection was closed without a response
	Slug           string    `json:"slug"`
	Account        string    `json:"account"`
	IdempotencyKey string    `json:"idempotencyKey"`
	Replayed       bool      `json:"replayed"` // the stored response of an earlier request with the key
	Repeated       bool      `json:"repeated"` // arrived a second time through a fault
	Fault          string    `json:"fault"`
	Do             string    `json:"do"` // about the slug
}

// LineStyle says how lines look.
type LineStyle struct {
	// Verbose adds the time, the account, the idempotency key, and what a fault or a replay did.
	Verbose bool
	// Colors are for terminals.
	Colors bool
}

// The columns. A longer path moves the rest of its line.
const (
	methodWidth = 6
	pathWidth   = 44
)

// Line returns the request as one line, without its end. What a caller wrote cannot move the cursor.
func (s LineStyle) Line(e RequestLine) string {
	var line strings.Builder
	status := "---"
	if e.Status != 0 {
		status = fmt.Sprintf("%03d", e.Status)
	}
	line.WriteString(s.colored(e.Status, status))
	if s.Verbose {
		line.WriteString("  " + e.Time.UTC().Format("15:04:05.000"))
	}
	fmt.Fprintf(&line, "  %-*s  %-*s", methodWidth, plaintext.Line(e.Method), pathWidth, plaintext.Line(e.Path))
	add := func(text string) {
		if text != "" {
			line.WriteString("  " + plaintext.Line(text))
		}
	}
	add(e.Slug)
	if e.Status == 0 {
		add("no response")
	}
	if !s.Verbose {
		return strings.TrimRight(line.String(), " ")
	}
	add(named("account", e.Account))
	add(named("key", e.IdempotencyKey))
	if e.Replayed {
		add("replayed")
	}
	if e.Repeated {
		add("repeated")
	}
	add(named("fault", e.Fault))
	return strings.TrimRight(line.String(), " ")
}

func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + "=" + value
}

// The colors of a terminal: green for what was done, yellow for a refusal, red for what nobody expects.
const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	normal = "\x1b[0m"
)

func (s LineStyle) colored(status int, text string) string {
	if !s.Colors {
		return text
	}
	color := red
	switch status / 100 {
	case 1, 2, 3:
		color = green
	case 4:
		color = yellow
	}
	return color + text + normal
}
