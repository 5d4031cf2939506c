package recorded

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Encoded is the only member of an object that stands for its value as canonical JSON in base64. That is the form of
// what a developer key signs.
const Encoded = "{{base64}}"

// moment matches a time, counted from the start of the recording: {{now}}, {{now+15m0s}}, {{now-168h0m0s}}; or its
// date: {{date now}}.
var moment = regexp.MustCompile(`\{\{(date )?now([+-][^}]+)?\}\}`)

// Moment returns the text for a time, counted from the start of the recording.
func Moment(after time.Duration) string { return "{{now" + signed(after) + "}}" }

// Date returns the text for a date, counted in days from the start of the recording.
func Date(days int) string { return "{{date now" + signed(time.Duration(days)*24*time.Hour) + "}}" }

func signed(after time.Duration) string {
	switch {
	case after == 0:
		return ""
	case after > 0:
		return "+" + after.String()
	default:
		return after.String()
	}
}

// rendered returns a recorded body with the times of a recording that starts at start.
func rendered(body codec.Value, start time.Time) (codec.Value, error) {
	var failed error
	whole, err := Rewrite(body, func(_ string, value codec.Value) (codec.Value, bool) {
		var changed codec.Value
		var err error
		switch value.Kind() {
		case '"':
			changed, err = renderedText(value, start)
		case '{':
			changed, err = encoded(value, start)
		}
		if err != nil && failed == nil {
			failed = err
		}
		return changed, changed != nil
	})
	if failed != nil {
		return nil, failed
	}
	return whole, err
}

func renderedText(value codec.Value, start time.Time) (codec.Value, error) {
	var text string
	if err := codec.Unmarshal(value, &text); err != nil {
		return nil, err
	}
	var failed error
	text = moment.ReplaceAllStringFunc(text, func(found string) string {
		at, err := timeOf(found, start)
		if err != nil {
			failed = err
		}
		if strings.HasPrefix(found, "{{date") {
			return at.UTC().Format(time.DateOnly)
		}
		return at.UTC().Format(time.RFC3339Nano)
	})
	if failed != nil {
		return nil, failed
	}
	return codec.Marshal(text)
}

// timeOf returns the time that one moment stands for.
func timeOf(text string, start time.Time) (time.Time, error) {
	parts := moment.FindStringSubmatch(text)
	switch {
	case parts == nil || parts[0] != text:
		return time.Time{}, fmt.Errorf("recorded: %q is not a time such as {{now+15m0s}}", text)
	case parts[2] == "":
		return start, nil
	}
	after, err := time.ParseDuration(parts[2])
	if err != nil {
		return time.Time{}, fmt.Errorf("recorded: %q: %w", text, err)
	}
	return start.Add(after), nil
}

// encoded returns the text that an object with the member [Encoded] stands for, or nil for another object.
func encoded(object codec.Value, start time.Time) (codec.Value, error) {
	var members map[string]codec.Value
	if err := codec.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	inner, ok := members[Encoded]
	if !ok || len(members) != 1 {
		return nil, nil
	}
	payload, err := rendered(inner, start)
	if err == nil {
		err = payload.Canonicalize()
	}
	if err != nil {
		return nil, err
	}
	return codec.Marshal(base64.StdEncoding.EncodeToString(payload))
}
