package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/moneymovement/moneymovement-go/examples/internal/narrate"
)

// legend explains the lines and fields, and says when to alert.
var legend = []struct {
	title string
	rows  [][2]string
}{
	{"lines", [][2]string{
		{`DEBUG "moneymovement attempt"`, "one attempt of a call; a call can take several"},
		{`WARN  "moneymovement attempt"`,
			"the service failed with 5xx; ALERT if many follow each other, and report the requestId"},
		{`INFO  "moneymovement waited for its rate window"`,
			"a call waited over a second; ALERT if this goes on: you send too much"},
		{`INFO  "moneymovement waited for its turn to pay"`, "a payment waited over a second before it was booked"},
		{`WARN  "moneymovement token store ..."`, "the session was not loaded or saved; ALERT: each start logs in"},
		{`WARN or ERROR about unread JSON`,
			"a response is not as described; ALERT, and look for a new version of the SDK"},
		{`INFO  "invoice is paid"`, "a line of this program: the payment is paid"},
		{`ERROR "invoice is not settled"`, "a line of this program: ALERT, and look at its state and error"},
		{`span="POST /dapi/v1/..."`, "one attempt, as OpenTelemetry sees it"},
		{`span="pay invoice"`, "one payment, around all of its calls; ALERT if it takes longer than you promise"},
		{`call=...`, "one call, over all its attempts, as WithMetrics reports it"},
	}},
	{"fields", [][2]string{
		{"operation", "which call it is; you can use it as a label of a metric"},
		{"attempt", "1 for the first attempt; more means that an earlier attempt failed"},
		{"took", "how long the call or the span took"},
		{"tookMs", "how long the attempt took, in milliseconds"},
		{"account", "the client that the call acts for"},
		{"idempotencyKey", "which payment it is; search for it to see all attempts of a payment, over all processes"},
		{"status", "the HTTP status; absent if no response came"},
		{"requestId", "the service's id of the attempt; quote it when you ask the service for help"},
		{"error", "why no response came"},
		{"trace", "the trace of your program that the line belongs to"},
		{"result", "how the call ended; ALERT on unexpected, and on unknown if it does not change later"},
		{"code", "the slug of a refusal; docs/errors.md says what to do about each"},
		{"payment.state",
			"where the payment stands; ALERT on ended and needs_decision, and on unknown if it does not change later"},
	}},
}

// explain prints the legend.
func explain(n narrate.Narrator) error {
	for _, part := range legend {
		n.Step("how to read it: %s", part.title)
		table := tabwriter.NewWriter(n.Out, 0, 0, 2, ' ', 0)
		for _, row := range part.rows {
			fmt.Fprintf(table, "    %s\t%s\n", row[0], row[1])
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}
