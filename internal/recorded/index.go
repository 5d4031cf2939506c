package recorded

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Index says where the recordings hold a response of the host to each operation, such as dapi.GetPayout.
type Index map[string]Place

// Place is one exchange of a recording.
type Place struct {
	Example  string `json:"example"`
	Exchange int    `json:"exchange"` // counted from 0
}

// Operations returns the index.
func Operations() (Index, error) { return read[Index]("testdata/" + IndexName) }

// IndexName is the file of the index in testdata.
const IndexName = "operations.json"

// ResponseTo returns the host's response to an operation, as if it was sent at now.
func ResponseTo(operation string, now time.Time) (*http.Response, error) {
	index, err := Operations()
	if err != nil {
		return nil, err
	}
	place, ok := index[operation]
	if !ok {
		return nil, fmt.Errorf("recorded: there is no operation %q: Operations lists the names", operation)
	}
	recording, err := load(place.Example)
	if err != nil {
		return nil, err
	}
	if place.Exchange >= len(recording) {
		return nil, fmt.Errorf("recorded: %s has no exchange %d; %s", place.Example, place.Exchange, remedy)
	}
	answer := recording[place.Exchange].Answer
	sent, err := timeOf(answer.Now, now)
	if err != nil {
		return nil, err
	}
	header, body, err := answer.rendered(now.Add(now.Sub(sent)))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: fmt.Sprint(answer.Status, " ", http.StatusText(answer.Status)), StatusCode: answer.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
