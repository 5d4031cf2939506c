package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// bearing sends an access token, and a key beside it.
type bearing struct{ token, key string }

func (b bearing) Authorize(_ context.Context, h http.Header) error {
	h.Set("Authorization", "Bearer "+b.token)
	h.Set("X-Api-Key", b.key)
	return nil
}

// told is a secret of a body.
type told struct{ hidden.Text }

func (t told) Reveal() string { return hidden.Reveal(t.Text) }

func tell(text string) told { return told{hidden.NewText(text)} }

// tellThing is an operation whose body holds a secret.
var tellThing = transport.Operation{ID: "TellThing", Method: http.MethodPost, Path: "/things/tell",
	Repeat: transport.RepeatNever, Tells: true}

// A validator that quotes a refused value reveals no secret: not in the error's details, message or excerpt, and not in
// the stored body.
func TestSecretsThatARefusalRepeatsAreHidden(t *testing.T) {
	const sent, bearer, key = "sig/of+the=canary", "token-of-the-canary", "key-of-the-canary"
	escaped := strings.ReplaceAll(sent, "/", `\/`)
	spelled := `sig\u002fof\u002bthe\u003dcanary`
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a validator's input": {422,
			`{"detail":[{"loc":["body","signature"],"msg":"is no signature","type":"value_error","input":"` + sent +
				`"}]}`},
		"a message": {400, `{"error":{"code":"validation_failed","message":"the value \"` + escaped +
			`\" is wrong","details":{"sum":1.50}}}`},
		"other escapes": {400, `{"error":{"code":"validation_failed","message":"wrong","details":{"input":"` +
			spelled + `"}}}`},
		"a name": {400, `{"error":{"code":"validation_failed","message":"wrong","details":{"` + sent +
			`":1}}}`},
		"the credentials": {401, `{"error":{"code":"forbidden","message":"Bearer ` + bearer + ` and ` + key +
			`"}}`},
		"what is no envelope": {500, `{"signature":"` + sent + `"}`},
		"what is no JSON":     {502, `<html>` + sent + " " + bearer},
		"what is cut off":     {400, `{"error":{"code":"x","message":"` + sent},
		"a name that came twice": {400, `{"error":{"code":"x","message":"` + spelled + `","message":"` + spelled +
			`"}}`},
		"no UTF-8": {400, "{\"error\":{\"code\":\"x\",\"message\":\"\xff " + spelled + "\"}}"},
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := counted(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			var kept moneymovement.Response
			call := transport.Kept(&kept)
			call.Auth = bearing{bearer, key}
			r := transport.NewRequest(&tellThing, "", call)
			r.Body(struct{ Signature told }{tell(sent)}, nil)
			_, err := transport.Do[thing](t.Context(), newClient(t, server.URL), r)
			require.Error(t, err)
			shown := fmt.Sprintf("%v %+v %s", err, errorDetails(err), kept.Body)
			for _, secret := range []string{sent, escaped, spelled, bearer, key} {
				assert.NotContains(t, shown, secret)
			}
			assert.Contains(t, shown, hidden.Redaction)
			if name == "a message" {
				assert.Contains(t, shown, "1.50", "what is no secret stays as it is")
			}
		})
	}
}

// Every secret of a body is sent as it is. It is searched for in a refusal if it is so long that it cannot be there by
// chance.
func TestEverySecretOfABodyIsLookedFor(t *testing.T) {
	const first, second, short, number = "canary-a", "canary-b", "canary7", "12345678"
	mirror := step(func(req *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		return answers(400,
			`{"error":{"code":"validation_failed","message":"wrong","details":[`+string(body)+`,`+number+`,1.50]}}`)(req)
	})
	r := transport.NewRequest(&tellThing, "", transport.Call{Auth: bearing{"token-of-the-canary", ""}})
	r.Body(struct{ First, Second, Short, Number told }{tell(first), tell(second), tell(short), tell(number)}, nil)
	_, err := transport.Do[thing](t.Context(), newClient(t, host, through(mirror)), r)
	assert.JSONEq(t,
		`[{"First":"[redacted]","Second":"[redacted]","Short":"canary7","Number":"[redacted]"},"[redacted]",1.50]`,
		errorDetails(err),
		"the whole body was sent, and came back; a number of its digits is the same secret")
}

// The caller gets everything in a success, also a secret that was sent before.
func TestASuccessIsNotRedacted(t *testing.T) {
	const token = "token-of-the-canary"
	svc := script(answers(200, `{"id":"`+token+`","amount":"1","status":"`+token+`"}`))
	got, err := send(t.Context(), newClient(t, host, through(svc)), &readThing,
		transport.Call{Auth: bearing{token, ""}})
	require.NoError(t, err)
	assert.Equal(t, token, got.ID)
	assert.Equal(t, token, got.Status)
}

// errorDetails are the parts of a refusal that are not in its text.
func errorDetails(err error) string {
	if refusal, ok := errors.AsType[*errors.Refusal](err); ok {
		return string(refusal.Details)
	}
	if unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err); ok {
		return unexpected.Excerpt
	}
	return ""
}
