package moneymovement_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

// header returns what an option sets in a call and in a wait, which is the same.
func header(t require.TestingT, options ...moneymovement.HeaderOption) (http.Header, []errors.Field) {
	ofCall := moneymovement.CallSettingsOf(options...)
	var waiting []moneymovement.WaitOption
	for _, option := range options {
		waiting = append(waiting, option)
	}
	ofWait := moneymovement.WaitSettingsOf(waiting...)
	require.Equal(t, ofCall.Header, ofWait.Header)
	require.Equal(t, ofCall.Invalid, ofWait.Invalid)
	return ofCall.Header, ofCall.Invalid
}

func TestHeadersOfCorrelationAreTaken(t *testing.T) {
	for _, name := range []string{"traceparent", "tracestate", "baggage", "X-Request-ID", "X-Correlation-ID", "b3",
		"X-B3-TraceId", "uber-trace-id", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "sentry-trace",
		"x-datadog-trace-id", "X-Session-ID", "Cache-Control", "X-Tenant", "X-Monitor"} {
		taken, invalid := header(t, moneymovement.Header(name, `00-4bf9 "x"=~`))
		assert.Empty(t, invalid, name)
		assert.Equal(t, `00-4bf9 "x"=~`, taken.Get(name))
		assert.Len(t, taken, 1)
	}
	taken, invalid := header(t, moneymovement.Header("X-Correlation-ID", "first"), moneymovement.Header("b3", "0"),
		moneymovement.Header("x-correlation-id", "last"))
	assert.Empty(t, invalid)
	assert.Equal(t, http.Header{"X-Correlation-Id": {"last"}, "B3": {"0"}}, taken, "the last one is sent, once")
}

func TestHeadersThatAreRefused(t *testing.T) {
	const credential, set = "holds no credential", "the SDK or the connection sets it"
	for name, want := range map[string]string{
		"Authorization": credential, "authorization": credential, "Cookie": credential, "Set-Cookie": credential,
		"X-Api-Key": credential, "x-api-KEY": credential, "Proxy-Authorization": credential, "X-ApiKey": credential,
		"Proxy-Authenticate": credential, "Idempotency-Key": credential, "idempotency-key": credential,
		"X-Idempotency-Key": credential, "X-Auth-Token": credential, "X-Client-Secret": credential,
		"X-Amz-Security-Token": credential, "Api-Key": credential, "X-Access-Token": credential,
		"X-AuthToken": credential, "Sessiontoken": credential, "X-Accesskey": credential, "X-Secretkey": credential,
		"Privatekey": credential, "Apisecret": credential, "X-Api-Keys": credential, "Tokens": credential,
		"Bearer": credential, "DPoP": credential, "Signature": credential, "Signature-Input": credential,
		"Idempotencykey": credential, "X-Idempotency-Id": credential, "X-Client-Cert": credential,
		"X-Signingkey": credential, "X-Userpassword": credential, "Cookies": credential, "X-Pass-Phrase": credential,
		"X-Credentials": credential, "X-Forwarded-Client-Cert": credential, "X-Auth-User": credential,

		"Connection": set, "Keep-Alive": set, "TE": set, "te": set, "Trailer": set, "Transfer-Encoding": set,
		"Upgrade": set, "Proxy-Connection": set, "Host": set, "User-Agent": set, "Content-Type": set,
		"Content-Length": set, "Accept": set, "Accept-Encoding": set, "Expect": set, "X-Service-Account": set,
		"x-service-account": set, "If-None-Match": set, "Range": set, "X-HTTP-Method-Override": set,
		"X-Forwarded-For": set, "HTTP2-Settings": set, "Date": set, "X-Forwarded-User": set, "X-Forwarded-Port": set,
		"X-Remote-User": set, "X-Original-Host": set, "X-Original-URL": set, "X-Host": set, "True-Client-IP": set,
		"X-Client-IP": set, "Trailers": set,

		"": "needs a name", "X Trace": "needs a name", "X-Trace:": "needs a name", "X_Api_Key": "needs a name",
		"X-Träce": "needs a name", "X-Trace\r\nHost": "needs a name", ":authority": "needs a name",
	} {
		taken, invalid := header(t, moneymovement.Header(name, "s3cret"))
		assert.Empty(t, taken, name)
		require.Len(t, invalid, 1, name)
		assert.Equal(t, "Header", invalid[0].Field)
		assert.Contains(t, invalid[0].Message, want, name)
		assert.NotContains(t, invalid[0].Message, "s3cret")
	}
	for value, want := range map[string]string{
		"": "needs a value", "a\r\nHost: b": "printable ASCII", "a\x00": "printable ASCII", "ä": "printable ASCII",
		"a\tb": "printable ASCII", "\xff": "printable ASCII", " a": "blank", "a ": "blank", "\x7f": "printable ASCII",
	} {
		taken, invalid := header(t, moneymovement.Header("traceparent", value))
		assert.Empty(t, taken, value)
		require.Len(t, invalid, 1, value)
		assert.Contains(t, invalid[0].Message, want, value)
	}
}

// Every header of the descriptions belongs to the SDK.
func TestNoHeaderOfTheDescriptionsIsTaken(t *testing.T) {
	parameter := regexp.MustCompile(`(?m)^ *(?:- )?name: (\S+)\n *in: header$|^ *in: header\n *name: (\S+)$`)
	found := 0
	for _, surface := range []string{"dapi", "appapi", "refapi", "public"} {
		content, err := os.ReadFile("openapi/" + surface + ".yaml")
		require.NoError(t, err)
		for _, match := range parameter.FindAllStringSubmatch(string(content), -1) {
			found++
			_, invalid := header(t, moneymovement.Header(match[1]+match[2], "x"))
			assert.NotEmpty(t, invalid, match[0])
		}
		assert.Len(t, parameter.FindAllString(string(content), -1), strings.Count(string(content), "in: header"))
	}
	assert.Greater(t, found, 5)
}

func TestHeadersOfOneCallAreLimited(t *testing.T) {
	var many []moneymovement.HeaderOption
	for i := range 16 {
		many = append(many, moneymovement.Header("X-"+strconv.Itoa(i), "x"))
	}
	taken, invalid := header(t, many...)
	assert.Len(t, taken, 16)
	assert.Empty(t, invalid)
	_, invalid = header(t, append(many, moneymovement.Header("X-0", "again"))...)
	assert.Empty(t, invalid)
	_, invalid = header(t, append(many, moneymovement.Header("b3", "x"))...)
	require.Len(t, invalid, 1)
	assert.Equal(t, "too_long", invalid[0].Code)

	_, invalid = header(t, moneymovement.Header("Baggage", strings.Repeat("x", 16<<10-len("Baggage"))))
	assert.Empty(t, invalid)
	_, invalid = header(t, moneymovement.Header("Baggage", strings.Repeat("x", 16<<10-len("Baggage")+1)))
	assert.Len(t, invalid, 1)
}

// What is taken is one header for net/http, under its name and with its value; what is not taken is said.
func TestHeadersTakenAreSentAsTheyAre(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usdRate":"1.08","bankTransfer":"1.07","card":"1.06"}`)
	}))
	defer server.Close()
	client, err := public.New(server.URL)
	require.NoError(t, err)
	_, err = client.Rates.Get(t.Context(), "EUR")
	require.NoError(t, err)
	without := got
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`(?i)[a-z0-9-]{1,12}|authorization|host|te|x-[a-z]{1,5}-key`).Draw(t, "name")
		value := rapid.OneOf(rapid.StringMatching(`[ -~]{0,20}`), rapid.String()).Draw(t, "value")
		got = nil
		_, err := client.Rates.Get(t.Context(), "EUR", moneymovement.Header(name, value))
		_, invalid := header(t, moneymovement.Header(name, value))
		if len(invalid) > 0 {
			refused, is := errors.AsType[*errors.InvalidInput](err)
			require.True(t, is, "%v", err)
			require.Equal(t, invalid, refused.Fields)
			require.Nil(t, got, "nothing is sent")
			return
		}
		require.NoError(t, err)
		require.Equal(t, []string{value}, got.Values(name))
		rest := got.Clone()
		rest.Del(name)
		require.Equal(t, without, rest)
	})
}
