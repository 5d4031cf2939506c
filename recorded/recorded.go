// Package recorded returns responses of the sandbox host, for the fakes in your tests. There is one response for each
// operation of packages dapi, appapi, refapi and public. Your tests do not need the host.
//
// Use it where a fake must return what the service returns: in an http.RoundTripper ([Response]), or in a type that
// stands in for a service of the SDK ([Body]). To test what happens to money, run the sandbox host instead: a recorded
// response does not depend on the request.
//
// The ids in a response are short names such as po_1, and all its times are relative to the time that you pass. A new
// version of the SDK can have other values in its responses, so a test should not compare them.
package recorded

import (
	"bytes"
	_ "embed" // for the responses
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// responses has one line for each operation. A text such as {{now+15m}} is a time, counted from the time of the
// response, and {{date now}} is its date. An object with the only member {{base64}} stands for the member's value as
// canonical JSON in base64, which is what a developer key signs.
//
//go:embed responses.jsonl
var responses []byte

// response is one line.
type response struct {
	Operation string      `json:"operation"`
	Status    int         `json:"status"`
	Body      codec.Value `json:"body,omitzero"`
	Text      string      `json:"text,omitzero"` // a body that is not JSON: the first line of a PDF
}

// byOperation reads the responses. A line that cannot be read is a mistake in this package.
var byOperation = sync.OnceValue(func() map[string]response {
	all := map[string]response{}
	for line := range bytes.Lines(responses) {
		var one response
		if err := codec.Unmarshal(line, &one, codec.NoUnknownMembers()); err != nil {
			panic(err)
		}
		all[one.Operation] = one
	}
	return all
})

// Operations returns the names of all operations, sorted. A name has the package, and the operation as in the errors
// and logs of the SDK, such as "dapi.GetPayout" or "public.GetRate".
func Operations() []string { return slices.Sorted(maps.Keys(byOperation())) }

// Response returns the recorded response to a successful call of an operation, with its status, header and body. now is
// the time at which the response seems to be sent: at that time, a price is fresh and a session has just begun.
// Response returns an error for an unknown operation.
func Response(operation string, now time.Time) (*http.Response, error) {
	recorded, ok := byOperation()[operation]
	if !ok {
		return nil, fmt.Errorf("recorded: there is no operation %q: Operations lists the names", operation)
	}
	header := http.Header{"Date": {now.UTC().Format(http.TimeFormat)}, "X-Request-Id": {"req_1"}}
	body := []byte(recorded.Text)
	switch {
	case recorded.Body != nil:
		header.Set("Content-Type", "application/json")
		var tree any
		err := codec.Unmarshal(recorded.Body, &tree)
		if err == nil {
			body, err = codec.Marshal(at(now, tree), codec.Deterministic())
		}
		if err != nil {
			return nil, err
		}
	case recorded.Text != "":
		header.Set("Content-Type", "application/pdf")
	}
	if len(body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return &http.Response{
		Status: fmt.Sprint(recorded.Status, " ", http.StatusText(recorded.Status)), StatusCode: recorded.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// Body returns the body of [Response]. It is JSON. For an operation that returns nothing it is empty, and for a PDF it
// has only the first line.
func Body(operation string, now time.Time) ([]byte, error) {
	response, err := Response(operation, now)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

var moment = regexp.MustCompile(`\{\{(date )?now([+-][^}]+)?\}\}`)

// at returns a JSON value with the times of a response that is sent at now.
func at(now time.Time, value any) any {
	switch value := value.(type) {
	case string:
		return moment.ReplaceAllStringFunc(value, func(text string) string {
			parts := moment.FindStringSubmatch(text)
			after, _ := time.ParseDuration(parts[2]) // none is the time itself
			if parts[1] != "" {
				return now.Add(after).UTC().Format(time.DateOnly)
			}
			return now.Add(after).UTC().Format(time.RFC3339Nano)
		})
	case []any:
		for i, element := range value {
			value[i] = at(now, element)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = at(now, member)
		}
		if signed, ok := value["{{base64}}"]; ok {
			canonical, err := codec.Marshal(signed, codec.Deterministic())
			if err != nil {
				panic(err) // it was read from JSON
			}
			return base64.StdEncoding.EncodeToString(canonical)
		}
	}
	return value
}
