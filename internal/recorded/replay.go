package recorded

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// replay returns the recorded responses. Requests of one method and path get them in the order of the recording.
type replay struct {
	example string
	start   time.Time

	mu      sync.Mutex
	left    Recording
	refused error // the first request that is not in the recording
}

func newReplay(example string, recording Recording, start time.Time) *replay {
	return &replay{example: example, left: recording, start: start.Truncate(time.Second)}
}

// maxBody limits the body of a request.
const maxBody = 1 << 20

func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if err == nil {
		var answer Answer
		if answer, err = r.next(request.Method, request.URL.RequestURI(), body); err == nil {
			err = answer.write(w, r.start)
		}
	}
	if err != nil {
		refuse(w, err)
	}
}

// next takes the response to a request out of the recording.
func (r *replay) next(method, path string, body []byte) (Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, exchange := range r.left {
		if exchange.Method != method || exchange.Path != path {
			continue
		}
		if !same(exchange.Body, body) {
			return Answer{},
				r.refuse(fmt.Errorf("%s %s was recorded with the body %s, and came with %s", method, path,
					exchange.Body, body))
		}
		r.left = append(r.left[:i:i], r.left[i+1:]...)
		return exchange.Answer, nil
	}
	return Answer{}, r.refuse(fmt.Errorf("%s %s was not recorded, or less often", method, path))
}

// refuse keeps the first reason. The caller holds mu.
func (r *replay) refuse(reason error) error {
	reason = fmt.Errorf("recorded: %s: %w; %s", r.example, reason, remedy)
	if r.refused == nil {
		r.refused = reason
	}
	return reason
}

// complete returns nil if each request was in the recording, and each recorded request came.
func (r *replay) complete() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil && len(r.left) > 0 {
		return r.refuse(fmt.Errorf("%s %s was recorded and did not come", r.left[0].Method, r.left[0].Path))
	}
	return r.refused
}

// same compares the body of a request with the recorded one, if there is one.
func same(recorded codec.Value, sent []byte) bool {
	if recorded == nil {
		return true
	}
	var want, got any
	return codec.Unmarshal(recorded, &want) == nil && codec.Unmarshal(sent, &got) == nil && alike(want, got)
}

// alike compares JSON values member by member. [Any] equals every value.
func alike(want, got any) bool {
	switch want := want.(type) {
	case string:
		if want == Any {
			return true
		}
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok || len(members) != len(want) {
			return false
		}
		for name, value := range want {
			if member, ok := members[name]; !ok || !alike(value, member) {
				return false
			}
		}
		return true
	case []any:
		elements, ok := got.([]any)
		if !ok || len(elements) != len(want) {
			return false
		}
		for i, value := range want {
			if !alike(value, elements[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}

// write sends the response, at the times that count from start. A lost response closes the connection.
func (a Answer) write(w http.ResponseWriter, start time.Time) error {
	if a.Lost {
		panic(http.ErrAbortHandler)
	}
	header, body, err := a.rendered(start)
	if err != nil {
		return err
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(body) // it fails only if the client has gone
	return nil
}

// rendered returns the header and the body at the times that count from start.
func (a Answer) rendered(start time.Time) (header http.Header, body []byte, err error) {
	now, err := timeOf(a.Now, start)
	if err != nil {
		return nil, nil, err
	}
	body = []byte(a.Text)
	if a.Body != nil {
		if body, err = rendered(a.Body, start); err != nil {
			return nil, nil, err
		}
	}
	header = http.Header{"Date": {now.UTC().Format(http.TimeFormat)}}
	for name, value := range a.Header {
		header.Set(name, value)
	}
	if len(body) > 0 {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return header, body, nil
}

// refuse sends the reason, so that it appears in the error of the call. Status 400 is not tried again.
func refuse(w http.ResponseWriter, reason error) {
	message, _ := codec.AppendQuote(nil, reason.Error()) // it replaces bytes that are not UTF-8
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"error":{"code":"not_recorded","message":%s}}`, message)
}
