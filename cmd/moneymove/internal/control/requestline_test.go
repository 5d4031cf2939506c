package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/control"
)

func TestLines(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 123_000_000, time.FixedZone("", 3600))
	paid := control.RequestLine{
		Time: at, Method: "POST", Path: "/dapi/v1/payouts", Status: 201, Account: "cl_1", IdempotencyKey: "invoice-42",
		Replayed: true, Repeated: true, Fault: "duplicate",
	}
	refused := control.RequestLine{Time: at, Method: "DELETE", Path: "/x", Status: 409, Slug: "conflict"}
	lost := control.RequestLine{Time: at, Method: "GET", Path: "/dapi/v1/chains", Fault: "drop_before"}
	short, verbose := control.LineStyle{}, control.LineStyle{Verbose: true}
	assert.Equal(t, []string{
		"201  POST    /dapi/v1/payouts",
		"409  DELETE  /x                                            conflict",
		"---  GET     /dapi/v1/chains                               no response",
	}, []string{short.Line(paid), short.Line(refused), short.Line(lost)})
	assert.Equal(t, []string{
		"201  11:00:00.123  POST    /dapi/v1/payouts                              " +
			"account=cl_1  key=invoice-42  replayed  repeated  fault=duplicate",
		"409  11:00:00.123  DELETE  /x                                            conflict",
		"---  11:00:00.123  GET     /dapi/v1/chains                               no response  fault=drop_before",
	}, []string{verbose.Line(paid), verbose.Line(refused), verbose.Line(lost)})
}

func TestColorsAreThoseOfTheOutcome(t *testing.T) {
	for status, color := range map[int]string{200: "\x1b[32m200", 302: "\x1b[32m302", 404: "\x1b[33m404",
		503: "\x1b[31m503", 0: "\x1b[31m---"} {
		e := control.RequestLine{Method: "GET", Path: "/", Status: status}
		assert.Contains(t, control.LineStyle{Colors: true}.Line(e), color+"\x1b[0m")
		assert.NotContains(t, control.LineStyle{}.Line(e), "\x1b")
	}
}

// What a caller wrote moves no cursor, changes no color and reverses no line.
func TestCallersCannotWriteToTheTerminal(t *testing.T) {
	hostile := "a\x1b[2J\r\n\u009b31m\u202eb\u2028"
	line := control.LineStyle{Verbose: true}.Line(control.RequestLine{
		Method: hostile, Path: hostile, Status: 200, Slug: hostile, Account: hostile, IdempotencyKey: hostile,
		Fault: hostile,
	})
	assert.False(t, strings.ContainsAny(line, "\x1b\r\n\u009b\u202e\u2028"), "%q", line)
}
