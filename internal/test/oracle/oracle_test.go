package oracle

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded returns what a case with some content is written as.
func recorded(t *testing.T, fill func(*Case)) (digests, lines string) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv(variable, folder)
	c := Named("a case of " + folder)
	fill(c)
	require.NoError(t, c.Close())
	read := func(kind string) string {
		text, err := os.ReadFile(filepath.Join(folder, "oracle."+kind))
		require.NoError(t, err)
		return strings.ReplaceAll(string(text), "a_case_of_"+folder, "case")
	}
	return read("digests"), read("lines")
}

func TestACaseIsWritten(t *testing.T) {
	_, lines := recorded(t, func(c *Case) {
		c.Handler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(),
			httptest.NewRequest(http.MethodGet, "/dapi/v1/escrow/esc_1/actions/open/confirm?b=1&a=2", http.NoBody))
		r := httptest.NewRequest(http.MethodPost, "/dapi/v1/payouts", http.NoBody)
		r.Header.Set("Idempotency-Key", "invoice-42")
		c.Sent(r)
		c.Signed([]byte(`{"nonce":"n","expiresAt":"2026-01-01T00:00:00Z","amount":"5","chainId":8453,` +
			`"destination":{"address":"0x52908400098527886E0F7030069857D2E4169EE7"},` +
			`"resourceId":"po_tiddxwdmsqnymlv5ieydxbwmzc:open"}`))
		c.Signed([]byte("text"))
		c.Ended(End{State: "unknown", RetryAt: time.Now().Add(time.Hour), Err: errors.New("no\nmore")})
		c.Ended(End{State: "not_paid", Unpaid: true})
	})
	assert.Equal(t, `case 0000 sent GET /dapi/v1/escrow/*/actions/*/confirm?a&b
case 0001 sent POST /dapi/v1/payouts with its key
case 0002 signed {amount=5 chainId=8453 destination={address=0x52908400098527886E0F7030069857D2E4169EE7} `+
		`expiresAt=* nonce=* resourceId=po_*:open}
case 0003 signed no object
case 0004 ended in_doubt, retry in 1h0m0s  # *errors.errorString: no
case 0005 ended not_paid, unpaid
`, lines)
}

func TestWhatADigestIsOf(t *testing.T) {
	paid := End{State: "paid", Err: errors.New("one text")}
	before, _ := recorded(t, func(c *Case) { c.Ended(paid) })
	same, _ := recorded(t, func(c *Case) { c.Ended(End{State: "paid", Err: errors.New("another")}) })
	assert.Equal(t, before, same, "the text of an error is not compared")
	other, _ := recorded(t, func(c *Case) { c.Ended(End{State: "paid", Unpaid: true}) })
	assert.NotEqual(t, before, other)
	more, _ := recorded(t, func(c *Case) { c.Ended(paid); c.Signed(nil) })
	assert.NotEqual(t, before, more)
}

func TestNothingIsRecordedWithoutAFolder(t *testing.T) {
	t.Setenv(variable, "")
	c := Begin(t)
	assert.Nil(t, c)
	c.Ended(End{State: "paid"})
	c.Signed(nil)
	c.Sent(nil)
	require.NoError(t, c.Close())
	assert.Nil(t, c.Signer(nil))
}

func TestASecondCaseOfATestHasANumber(t *testing.T) {
	t.Setenv(variable, t.TempDir())
	assert.Equal(t, "another_case", Named("another case").name)
	assert.Equal(t, "another_case#2", Named("another case").name)
}
