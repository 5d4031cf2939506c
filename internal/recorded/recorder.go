package recorded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/signing"
)

// RecorderVariable is the environment variable with the address of a recorder. Examples then run against it, and not
// against their recordings.
const RecorderVariable = "MONEYMOVEMENT_RECORDER"

// ControlPath is the path under which a recorded host takes what an example does besides its requests.
const ControlPath = "/_recorder"

// Start asks a recorder for a host, with POST /start.
type Start struct {
	Example   string `json:"example"`
	Email     string `json:"email"`
	PublicKey []byte `json:"publicKey"`
}

// Started describes the host.
type Started struct {
	URL         string `json:"url"`
	APIKey      string `json:"apiKey"`
	AccessToken string `json:"accessToken"`
	Wallet      string `json:"wallet"` // its address
}

// Advance moves the host's clock, with POST /_recorder/advance.
type Advance struct {
	By string `json:"by"`
}

// Sign has the wallet sign, with POST /_recorder/sign.
type Sign struct {
	Message []byte `json:"message"`
}

// Signed is the wallet's signature.
type Signed struct {
	Signature string `json:"signature"`
}

// serveHost has a recorder start a host for an example.
func serveHost(recorder, example string, key *signing.DeveloperKey) *Server {
	ctx := context.Background()
	var host Started
	if err := ask(ctx, recorder+"/start", Start{Example: example, Email: email, PublicKey: key.PublicKey()},
		&host); err != nil {
		panic(err)
	}
	base := host.URL + ControlPath
	return &Server{
		URL: host.URL, Email: email, Key: key, APIKey: host.APIKey, AccessToken: host.AccessToken,
		Wallet: &Wallet{address: host.Wallet, sign: func(ctx context.Context, message []byte) (string, error) {
			var signed Signed
			err := ask(ctx, base+"/sign", Sign{message}, &signed)
			return signed.Signature, err
		}},
		close: func() {}, // the recorder closes it
		advance: func(d time.Duration) {
			if err := ask(ctx, base+"/advance", Advance{d.String()}, nil); err != nil {
				panic(err)
			}
		},
	}
}

// control sends an example's requests to the recorder itself.
var control = &http.Client{Timeout: 30 * time.Second}

// ask sends a question to the recorder, and reads its response.
func ask(ctx context.Context, url string, question, into any) error {
	body, err := codec.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := control.Do(request)
	if err != nil {
		return fmt.Errorf("recorded: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("recorded: the recorder returned %s", answer.Status)
	}
	if into == nil {
		return nil
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	return codec.Unmarshal(text, into)
}
