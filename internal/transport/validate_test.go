package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// refused asserts that a call was refused before it was sent, for exactly these pairs of fields and codes.
func refused(t *testing.T, err error, fieldsAndCodes ...string) {
	t.Helper()
	var invalid *errors.InvalidInput
	require.ErrorAs(t, err, &invalid)
	var got []string
	for _, f := range invalid.Fields {
		got = append(got, f.Field, f.Code)
		assert.NotEmpty(t, f.Message)
	}
	assert.Equal(t, fieldsAndCodes, got)
}

// Rule: size.contact-id, size.id-prefix
func TestPathParametersCannotChangeThePath(t *testing.T) {
	for value, code := range map[string]string{
		"":                               "missing",
		".":                              "pattern",
		"..":                             "pattern",
		"a/b":                            "pattern",
		"../clients":                     "pattern",
		"a%2fb":                          "pattern",
		"a\\b":                           "pattern",
		"a?b":                            "pattern",
		"a#b":                            "pattern",
		"a b":                            "pattern",
		"ct_a\r\nX: y":                   "pattern",
		"ct_1\n":                         "pattern",
		"ct_\x00":                        "pattern",
		"ct_\xff":                        "pattern",
		"ct_é":                           "pattern",
		"{thingId}":                      "pattern",
		"ct_":                            "", // its rest is optional in the stated pattern, as an id without a prefix
		"po_1":                           "invalid_id",
		"cl_1":                           "invalid_id",
		"bnk_1":                          "invalid_id",
		strings.Repeat("a", 216):         "",
		strings.Repeat("a", 217):         "pattern",
		"ct_" + strings.Repeat("a", 216): "",
		"no_prefix-1.2:3":                "",
		"...":                            "",
	} {
		t.Run(value, func(t *testing.T) {
			svc := script(ok)
			r := transport.NewRequest(&readThing, "", transport.Call{})
			r.PathParam("thingId", value, idRule)
			_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
			if code != "" {
				refused(t, err, "thingId", code)
				assert.Empty(t, svc.attempts(), "nothing was sent")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "/v1/things/"+value, svc.attempts()[0].uri)
		})
	}
}

// A value without a stated rule is sent, unless it could be read as another path.
func TestPathValuesWithoutAPattern(t *testing.T) {
	param := func(value string) (*service, error) {
		svc := script(ok)
		r := transport.NewRequest(&readThing, "", transport.Call{})
		r.PathParam("thingId", value, transport.Rule{Reserved: []string{"all", "none"}})
		_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
		return svc, err
	}
	for _, value := range []string{
		".", "..", " ..", ".. ", "..;v=1", ".;", "a/b", "/", `a\b`, `\\`, "%2e%2e", "a%", "a?b", "a#b", "a\nb", "a\rb",
		"a\x00", "\x7f", "a\u0085b", "a\xff", "all", "none",
		";", ";v=1", " ", " ;", " ; all", "all;", "none;v=1", " all", "all ", "all ;v=1",
	} {
		svc, err := param(value)
		refused(t, err, "thingId", "pattern")
		assert.Empty(t, svc.attempts(), "%q", value)
	}
	_, err := param("")
	refused(t, err, "thingId", "missing")
	long := strings.Repeat("a", 5000)
	for value, want := range map[string]string{
		"a b": "a%20b", "a=b": "a=b", "é": "%C3%A9", "a;b": "a%3Bb", "{thingId}": "%7BthingId%7D", "...": "...",
		"..a": "..a", "$&'()*,+:@!~": "$&%27%28%29%2A%2C+:@%21~",
		long: long, "ALL": "ALL", "🙂": "%F0%9F%99%82",
	} {
		svc, err := param(value)
		require.NoError(t, err, "%q", value)
		assert.Equal(t, "/v1/things/"+want, svc.attempts()[0].uri)
	}
}

// A header value is refused only if it would break the header.
func TestHeadersThatWouldBreak(t *testing.T) {
	header := func(value string) (*service, error) {
		svc := script(ok)
		r := request(&readThing, transport.Call{})
		r.Header("Device-Name", value)
		_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
		return svc, err
	}
	for value, code := range map[string]string{
		"a\r\nX-Api-Key: b": "pattern", "a\n": "pattern", "\x00": "pattern", "a\x7f": "pattern", "\x1b[0m": "pattern",
		strings.Repeat("a", 64<<10+1): "too_long",
	} {
		svc, err := header(value)
		refused(t, err, "Device-Name", code)
		assert.Empty(t, svc.attempts())
	}
	for _, value := range []string{"Zoë's phone", "a\tb", strings.Repeat("a", 64<<10), "🙂", "="} {
		svc, err := header(value)
		require.NoError(t, err)
		assert.Equal(t, value, svc.attempts()[0].header.Get("Device-Name"))
	}
}

func TestAdditionalMembersMustNotRepeatFields(t *testing.T) {
	check := func(members map[string]any) error {
		return transport.Validate("Test", func(c *transport.Check) { c.Additional(members, "method", "currency") })
	}
	checkCodes(t, check(nil), nil)
	checkCodes(t, check(map[string]any{"bankCode": 1, "Method": 2}), nil)
	checkCodes(t, check(map[string]any{"currency": nil, "bankCode": 1}), []string{"duplicate"})
}

// Rule: idempotency.pattern
func TestIdempotencyKeyPattern(t *testing.T) {
	for key, code := range map[string]string{
		"":                       "missing",
		"invoice-42":             "",
		"A.b_c:d-9":              "",
		strings.Repeat("k", 128): "",
		strings.Repeat("k", 129): "pattern",
		"with space":             "pattern",
		"slash/":                 "pattern",
		"ключ":                   "pattern",
		"k\r\nX-Injected: 1":     "pattern",
		"k\n":                    "pattern",
		"k\x80":                  "pattern",
	} {
		t.Run(key, func(t *testing.T) {
			svc := script(ok)
			_, err := send(t.Context(), newClient(t, host, through(svc)), &bookThing,
				transport.Keyed(key))
			if code != "" {
				refused(t, err, "Idempotency-Key", code)
				assert.Empty(t, svc.attempts())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{key}, keys(svc.attempts()))
		})
	}
	_, err := send(t.Context(), newClient(t, host, through(script(ok))), &readThing,
		transport.Keyed("k"))
	refused(t, err, "Idempotency-Key", "not_applicable")
}

// All problems are named at once, nested fields by their path, and nothing is sent.
func TestEveryWrongFieldIsNamed(t *testing.T) {
	svc := script(ok)
	r := transport.NewRequest(&confirmThing, "", transport.Keyed("no key"))
	r.PathParam("thingId", "po_1", idRule)
	r.Body(struct{}{}, func(c *transport.Check) {
		c.Text("name", strings.Repeat("é", 201), transport.Rule{Max: 200})
		c.Nested("account", func(c *transport.Check) {
			c.Text("iban", "", transport.Rule{Required: true})
			c.Nested("bankAddress", func(c *transport.Check) {
				c.Text("country", "DEU", transport.Rule{Pattern: "^[A-Z]{2}$"})
				c.Missing("city", true)
			})
		})
		c.Items("documentIds", 2, 1, func(i int, name string) {
			c.Text(name, []string{"", "doc_1"}[i], transport.Rule{Required: true})
		})
	})
	r.Check().Refuse("account", "one_of", "needs exactly one")
	_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
	refused(t, err,
		"thingId", "invalid_id",
		"name", "too_long",
		"account.iban", "missing",
		"account.bankAddress.country", "pattern",
		"account.bankAddress.city", "missing",
		"documentIds", "too_many",
		"documentIds[0]", "missing",
		"account", "one_of",
		"Idempotency-Key", "pattern",
	)
	assert.Contains(t, err.Error(), "ConfirmThing: invalid input")
	assert.Contains(t, err.Error(), "account.bankAddress.country does not match ^[A-Z]{2}$")
	assert.Empty(t, svc.attempts())
}

func TestTextRules(t *testing.T) {
	for name, tc := range map[string]struct {
		value string
		rule  transport.Rule
		codes []string
	}{
		"absent":                            {"", transport.Rule{Min: 3, Pattern: "^a$"}, nil},
		"absent but required":               {"", transport.Rule{Required: true}, []string{"missing"}},
		"empty, and set so":                 {"", transport.Rule{Set: true, Min: 3}, []string{"too_short"}},
		"characters are counted, not bytes": {strings.Repeat("é", 200), transport.Rule{Max: 200}, nil},
		"one character too many":            {strings.Repeat("é", 201), transport.Rule{Max: 200}, []string{"too_long"}},
		"emoji are one character":           {"🙂🙂🙂🙂", transport.Rule{Min: 3, Max: 4}, nil},
		"of one character at most":          {"ab", transport.Rule{Max: 1}, []string{"too_long"}},
		"short enough":                      {"éé", transport.Rule{Min: 2}, nil},
		"too short":                         {"é", transport.Rule{Min: 2}, []string{"too_short"}},
		"too long and of another form": {"abc", transport.Rule{Max: 2, Pattern: "^[0-9]+$"},
			[]string{"too_long", "pattern"}},
		"own prefix":                {"cl_1", transport.Rule{Prefix: "cl_"}, nil},
		"no prefix":                 {"1", transport.Rule{Prefix: "cl_"}, nil},
		"another prefix":            {"po_1", transport.Rule{Prefix: "cl_"}, []string{"invalid_id"}},
		"no namespace is asked for": {"po_1", transport.Rule{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := transport.Validate("Test", func(c *transport.Check) { c.Text("f", tc.value, tc.rule) })
			checkCodes(t, err, tc.codes)
		})
	}
}

func TestBytesAreMeasuredAsBase64(t *testing.T) {
	rule := transport.Rule{Required: true, Max: 8} // characters of base64
	for n, codes := range map[int][]string{0: {"missing"}, 1: nil, 6: nil, 7: {"too_long"}} {
		err := transport.Validate("Test", func(c *transport.Check) { c.Bytes("signature", make([]byte, n), rule) })
		checkCodes(t, err, codes)
	}
}

// A list may be as long as its limit, and of any length without a limit. Each entry is checked under its own name.
func TestListsAreCounted(t *testing.T) {
	for _, tc := range []struct {
		n, most int
		codes   []string
	}{{0, 0, nil}, {3, 0, nil}, {3, 3, nil}, {4, 3, []string{"too_many"}}, {1, 1, nil}, {2, 1, []string{"too_many"}}} {
		var names []string
		checkCodes(t, transport.Validate("Test", func(c *transport.Check) {
			c.Items("ids", tc.n, tc.most, func(i int, name string) {
				names = append(names, fmt.Sprintf("%d %s", i, name))
			})
		}), tc.codes)
		var want []string
		for i := range tc.n {
			want = append(want, fmt.Sprintf("%d ids[%d]", i, i))
		}
		assert.Equal(t, want, names)
	}
	checkCodes(t, transport.Validate("Test", func(c *transport.Check) { c.Items("ids", 2, 1, nil) }),
		[]string{"too_many"})
}

func TestIntegerRules(t *testing.T) {
	for value, codes := range map[int64][]string{0: {"too_small"}, 1: nil, 100: nil, 101: {"too_large"},
		-1: {"too_small"}} {
		checkCodes(t, transport.Validate("Test", func(c *transport.Check) {
			c.AtLeast("limit", value, 1)
			c.AtMost("limit", value, 100)
		}), codes)
	}
}

func TestAmountRules(t *testing.T) {
	for text, codes := range map[string][]string{
		"10.50": nil, "0.000001": nil, "1e77": nil,
		"0": {"missing"}, "0.00": {"missing"},
		"-1":                          {"too_small"},
		"1e79":                        {"too_long"},
		"1e-79":                       {"too_long"},
		"1" + strings.Repeat("0", 78): {"too_long"},
	} {
		amount := decimal.RequireFromString(text)
		checkCodes(t, transport.Validate("Test", func(c *transport.Check) {
			c.Amount("amount", amount)
			c.Positive("amount", amount)
		}), codes)
	}
	free := func(amount decimal.Decimal) error {
		return transport.Validate("Test", func(c *transport.Check) { c.Amount("amount", amount) })
	}
	checkCodes(t, free(decimal.Decimal{}), nil)
	checkCodes(t, free(decimal.New(-5, 0)), nil)
	checkCodes(t, free(decimal.New(0, -1_000_000_000)), []string{"too_long"})
}

func TestPlacesOfAToken(t *testing.T) {
	places := func(amount decimal.Decimal) error {
		return transport.Validate("Test", func(c *transport.Check) { c.Places("amount", amount, 6, "USDC") })
	}
	for text, codes := range map[string][]string{"1": nil, "1.123456": nil, "1.1234560": nil,
		"1.1234567": {"amount_precision"}} {
		checkCodes(t, places(decimal.RequireFromString(text)), codes)
	}
	for text, decimals := range map[string]string{"1.1234567": " 7 ", "1.123456789": " 9 ", "0.00000001": " 8 "} {
		assert.ErrorContains(t, places(decimal.RequireFromString(text)), decimals)
	}
	checkCodes(t, places(decimal.New(1, -1_000_000_000)), nil) // Amount refuses it; here it must only cost nothing
}

func checkCodes(t *testing.T, err error, codes []string) {
	t.Helper()
	if codes == nil {
		assert.NoError(t, err)
		return
	}
	var invalid *errors.InvalidInput
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "Test", invalid.Operation)
	var got []string
	for _, f := range invalid.Fields {
		got = append(got, f.Code)
	}
	assert.Equal(t, codes, got)
}

// A credential is one word in a header.
func TestCredentialsAreChecked(t *testing.T) {
	for text, want := range map[string][]string{
		"a-Token.7~": nil, "": {"token missing"}, "two words": {"token pattern"}, "line\n": {"token pattern"},
		"\u00e9": {"token pattern"},
	} {
		assert.Equal(t, want,
			refusals(t, func(c *transport.Check) { c.Credential("token", hidden.NewText(text)) }), text)
	}
}

// refusals returns the fields that a check refuses, with the code of each.
func refusals(t *testing.T, check func(*transport.Check)) (found []string) {
	t.Helper()
	err := transport.Validate("BookThing", check)
	if err == nil {
		return nil
	}
	input, ok := errors.AsType[*errors.InvalidInput](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "BookThing", input.Operation)
	for _, field := range input.Fields {
		assert.NotEmpty(t, field.Message)
		found = append(found, field.Field+" "+field.Code)
	}
	return found
}

func TestSignsOfAmounts(t *testing.T) {
	amount := decimal.RequireFromString
	for text, want := range map[string]struct{ positive, notNegative []string }{
		"1": {nil, nil}, "0": {[]string{"amount missing"}, nil},
		"-1": {[]string{"amount too_small"}, []string{"amount too_small"}},
	} {
		assert.Equal(t, want.positive, refusals(t, func(c *transport.Check) { c.Positive("amount", amount(text)) }),
			text)
		assert.Equal(t, want.notNegative,
			refusals(t, func(c *transport.Check) { c.NotNegative("amount", amount(text)) }), text)
	}
}

func TestUUIDs(t *testing.T) {
	const uuid = "0193a5f2-7B1c-7f3e-9d2a-1234567890aB"
	for value, want := range map[string][]string{
		uuid: nil, uuid + "0": {"id pattern"}, "0" + uuid: {"id pattern"}, uuid[:35]: {"id pattern"},
		strings.ReplaceAll(uuid, "-", ""):  {"id pattern"},
		strings.Replace(uuid, "f", "g", 1): {"id pattern"},
	} {
		assert.Equal(t, want,
			refusals(t, func(c *transport.Check) { c.Text("id", value, transport.Rule{Pattern: transport.UUID}) }),
			value)
	}
}

func TestExactlyOneOfSeveral(t *testing.T) {
	for name, set := range map[string]map[string]bool{
		"none": {"b": false, "a": false}, "two": {"b": true, "a": true},
	} {
		assert.Equal(t, []string{"a|b exactly_one_of"}, refusals(t, func(c *transport.Check) { c.ExactlyOne(set) }),
			name)
	}
	assert.Nil(t, refusals(t, func(c *transport.Check) { c.ExactlyOne(map[string]bool{"b": true, "a": false}) }))
	assert.Nil(t,
		refusals(t, func(c *transport.Check) { c.ExactlyOne(map[string]bool{"a": false, "b": true, "c": false}) }))
	assert.Len(t,
		refusals(t, func(c *transport.Check) { c.ExactlyOne(map[string]bool{"a": true, "b": true, "c": false}) }), 1)
}

func TestProblemsOfANestedValue(t *testing.T) {
	assert.Equal(t, []string{"before missing", "account.bank.iban missing", "after missing"},
		refusals(t, func(c *transport.Check) {
			c.Missing("before", true)
			c.Nested("account", func(c *transport.Check) {
				c.Nested("bank", func(c *transport.Check) { c.Missing("iban", true) })
			})
			c.Missing("after", true)
			c.Missing("there", false)
		}))
	assert.Equal(t, []string{"account.iban missing"}, refusals(t, func(c *transport.Check) {
		c.Nested("account", func(c *transport.Check) { c.Missing("iban", true) })
	}))
}

// A key that a program uses for another payment is refused before it is sent, also the second time.
func TestAKeyOfOtherTermsIsNotSent(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	op := bookThing
	op.Terms = []wire.Term{{Name: "name", Format: wire.TermText}}
	book := func(name string) error {
		r := transport.NewRequest(&op, "", transport.Keyed("invoice-42"))
		r.Body(map[string]string{"name": name}, nil)
		_, err := transport.Do[thing](t.Context(), client, r)
		return err
	}
	require.NoError(t, book("Bob"))
	for range 2 {
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, book("Rob"), &reused)
	}
	require.NoError(t, book("Bob"))
	assert.Len(t, svc.attempts(), 2)
}

// A key whose first terms were refused is free for other terms.
func TestKeyOfARefusedCallTakesOtherTerms(t *testing.T) {
	svc := script(refuses(422, errors.CodeValidationFailed), ok)
	client := newClient(t, host, through(svc))
	op := bookThing
	op.Terms = []wire.Term{{Name: "name", Format: wire.TermText}}
	for _, name := range []string{"Bob", "Rob"} {
		r := transport.NewRequest(&op, "", transport.Keyed("invoice-42"))
		r.Body(map[string]string{"name": name}, nil)
		_, _ = transport.Do[thing](t.Context(), client, r)
	}
	assert.Len(t, svc.attempts(), 2)
}

// An error of a call names the id in the call's path, or else the contact in its body.
func TestResourceOfAnError(t *testing.T) {
	type payout struct {
		Amount    string `json:"amount"`
		ContactID string `json:"contactId,omitempty"`
	}
	about := func(op *transport.Operation, body any) string {
		r := transport.NewRequest(op, "", transport.Keyed("invoice-42"))
		if op == &confirmThing {
			r.PathParam("thingId", "ct_1", idRule)
		}
		r.Body(body, nil)
		_, err := transport.Do[thing](t.Context(),
			newClient(t, host, through(script(refuses(403, errors.CodeForbidden)))), r)
		head, headed := errors.CallInfoOf(err)
		require.True(t, headed, "%v", err)
		return head.Resource
	}
	assert.Equal(t, "ct_9", about(&bookThing, payout{ContactID: "ct_9"}))
	assert.Equal(t, "ct_9", about(&bookThing, &payout{ContactID: "ct_9"}))
	assert.Equal(t, "ct_1", about(&confirmThing, payout{ContactID: "ct_9"}))
	assert.Equal(t, "ct_9", about(&bookThing, struct {
		ContactID string `json:"contactId"`
	}{"ct_9"}))
	assert.Empty(t, about(&bookThing, payout{Amount: "1"}))
	assert.Empty(t, about(&bookThing, map[string]string{"contactId": "ct_9"}))
}

// An error that a surface creates itself knows whether the operation may be repeated.
func TestHeadOfAnOperation(t *testing.T) {
	for op, retryable := range map[*transport.Operation]bool{&bookThing: true, &confirmThing: true,
		&spendThing: false} {
		unknown := &errors.InDoubt{CallInfo: op.Head("invoice-42")}
		assert.Equal(t, retryable, unknown.Retryable(), op.ID)
		assert.Equal(t, op.ID, unknown.Operation)
		assert.Equal(t, "invoice-42", unknown.IdempotencyKey)
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
	}
	page := &errors.UnexpectedResponse{CallInfo: readThing.Head(""), Status: http.StatusBadGateway}
	assert.True(t, page.Retryable())
	assert.Equal(t, errors.NotMoved, page.MovedByCall())
}

// The id of a client is sent in a header, which loses blanks at its ends.
func TestClientIDs(t *testing.T) {
	for id, code := range map[string]string{
		"cl_1": "", "": "missing", "cl_1 ": "pattern", "\tcl_1": "pattern", "cl_\xff": "pattern", "cl_\n1": "pattern",
		"ct_1": "invalid_id", "1": "pattern", "x_cl_1": "pattern", "cl_" + strings.Repeat("a", 64<<10): "too_long",
	} {
		err := transport.Validate("Op", func(c *transport.Check) { c.ClientID("X-Service-Account", id) })
		if code == "" {
			require.NoError(t, err, id)
			continue
		}
		invalid, ok := errors.AsType[*errors.InvalidInput](err)
		require.True(t, ok, "%q: %v", id, err)
		require.Len(t, invalid.Fields, 1)
		assert.Equal(t, "X-Service-Account", invalid.Fields[0].Field)
		assert.Equal(t, code, invalid.Fields[0].Code, "%.20q", id)
	}
}

// A caller of Amount goes on with an amount only if it can be written.
func TestAmountSaysWhetherItCanBeWritten(t *testing.T) {
	for digits, can := range map[int]bool{10: true, 10_000: false} {
		_ = transport.Validate("Op", func(c *transport.Check) {
			assert.Equal(t, can, c.Amount("amount", decimal.RequireFromString(strings.Repeat("1", digits))))
		})
	}
}

// The stated rule of a key refuses an empty one, where a key is a member of the body.
func TestTheRuleOfAKey(t *testing.T) {
	for key, refused := range map[string]bool{"invoice-42": false, "": true} {
		err := transport.Validate("Op", func(c *transport.Check) { c.Text("idempotency_key", key, transport.KeyRule) })
		assert.Equal(t, refused, err != nil)
	}
}
