package recorded

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

//go:embed testdata
var files embed.FS

// Recording holds the requests of one example and their responses, in order.
type Recording []Exchange

// Exchange is one request with its response.
type Exchange struct {
	Method string `json:"method"`
	Path   string `json:"path"` // with its query
	// Body is the request's body, if it is JSON. [Any] stands for a value that differs each time, such as a signature.
	Body   codec.Value `json:"body,omitzero"`
	Answer Answer      `json:"answer"`
}

// Answer is a response of the host.
type Answer struct {
	// Lost reports that the connection was closed without a response.
	Lost bool `json:"lost,omitzero"`
	// Now is the host's time.
	Now    string            `json:"now,omitzero"`
	Status int               `json:"status,omitzero"`
	Header map[string]string `json:"header,omitzero"` // without Date and Content-Length
	// Body is a JSON body. Text is another body; of a PDF, only the first line is kept.
	Body codec.Value `json:"body,omitzero"`
	Text string      `json:"text,omitzero"`
}

// Any stands in a recorded request for a value that is not compared.
const Any = "{{any}}"

// Marshal writes a recording, or the [Index], as it is kept.
func Marshal[T Recording | Index](kept T) ([]byte, error) {
	text, err := codec.Marshal(kept, codec.Indented(), codec.Deterministic())
	return append(text, '\n'), err
}

// load reads the recording of an example, such as dapi/ExamplePayouts_Wait.
func load(example string) (Recording, error) {
	return read[Recording]("testdata/" + example + ".json")
}

func read[T Recording | Index](name string) (kept T, err error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("internal/recorded/%s: nothing is recorded for this example; %s", name, remedy)
	}
	if err := codec.Unmarshal(text, &kept, codec.NoUnknownMembers()); err != nil {
		return nil, fmt.Errorf("internal/recorded/%s: %w", name, err)
	}
	return kept, nil
}

// remedy ends each error about a recording that does not fit its example.
const remedy = "`make recordings` records the examples anew"
