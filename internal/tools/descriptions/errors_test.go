package descriptions_test

import (
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/errors"
)

// catalogueFile is as much of openapi/errors.yaml as the tests compare with; it is read here without the generator, so
// that a mistake of the generator shows.
type catalogueFile struct {
	Defaults struct{ Remedy, Moved judged }
	Slugs    []struct {
		Slug, Condition string
		Status          int
		Remedy, Moved   judged
		Details         []struct{ Name, Key, Type string }
	}
	Unreached []struct {
		Slug        string
		FoldedInto  string `yaml:"foldedInto"`
		NeverRaised bool   `yaml:"neverRaised"`
	}
}

// judged is a plain value, or the value member of {value, x-assumed}.
type judged string

func (j *judged) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*j = judged(node.Value)
		return nil
	}
	var assumed struct{ Value string }
	err := node.Decode(&assumed)
	*j = judged(assumed.Value)
	return err
}

func (j judged) or(fallback judged) judged {
	if j == "" {
		return fallback
	}
	return j
}

func readCatalogue(t *testing.T) catalogueFile {
	t.Helper()
	source, err := os.ReadFile("../../../openapi/errors.yaml")
	require.NoError(t, err)
	var c catalogueFile
	require.NoError(t, yaml.Unmarshal(source, &c))
	return c
}

// samples are a wire value and its Go value for each type a detail can have.
var samples = map[string]struct {
	wire string
	want any
}{
	"string":   {`"po_1"`, "po_1"},
	"[]string": {`["read","write"]`, []string{"read", "write"}},
	"decimal":  {`"100.50"`, decimal.RequireFromString("100.50")},
	"[]Field": {`[{"field":"name","code":"missing","message":"m"}]`,
		[]errors.Field{{Field: "name", Code: "missing", Message: "m"}}},
	"[]Blocker": {`[{"code":"kyc","message":"m","field":"iban"}]`,
		[]errors.Blocker{{Code: "kyc", Message: "m", Field: "iban"}}},
}

// Rule: error.envelope, error.one-typed-error
func TestEverySlugDecodesIntoItsOwnType(t *testing.T) {
	catalogue := readCatalogue(t)
	require.Len(t, catalogue.Slugs, 46, "the description's table has 46 error codes")

	owners := map[reflect.Type]string{}
	for _, entry := range catalogue.Slugs {
		t.Run(entry.Slug, func(t *testing.T) {
			var members []string
			for _, d := range entry.Details {
				members = append(members, fmt.Sprintf("%q:%s", d.Key, samples[d.Type].wire))
			}
			details := "{" + strings.Join(members, ",") + "}"
			err := errors.Decode(errors.Response{
				CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42", Attempts: 1},
				Status:   entry.Status,
				Header:   http.Header{"X-Request-Id": {"req_1"}},
				Body:     fmt.Appendf(nil, `{"error":{"code":%q,"message":"no","details":%s}}`, entry.Slug, details),
			})

			own := reflect.TypeOf(err)
			require.Equal(t, reflect.Pointer, own.Kind())
			assert.Equal(t, withoutUnderscores(entry.Slug), strings.ToLower(own.Elem().Name()))
			assert.Empty(t, owners[own], "each slug has a type of its own")
			owners[own] = entry.Slug

			wrapped := fmt.Errorf("paying the invoice: %w", err)
			target := reflect.New(own)
			require.True(t, errors.As(wrapped, target.Interface()))
			assert.Same(t, err, target.Elem().Interface())

			refusal, ok := errors.AsType[*errors.Refusal](wrapped)
			require.True(t, ok)
			assert.Equal(t, errors.Refusal{
				CallInfo: errors.CallInfo{RequestID: "req_1", Operation: "BookPayout", IdempotencyKey: "invoice-42",
					Attempts: 1},
				Code: errors.Code(entry.Slug), Message: "no",
				Details: []byte(details),
				Status:  entry.Status,
			}, *refusal)
			for _, d := range entry.Details {
				assert.Equal(t, samples[d.Type].want, reflect.ValueOf(err).Elem().FieldByName(d.Name).Interface(),
					d.Name)
			}
		})
	}
}

func TestCodesAreTheCatalogue(t *testing.T) {
	catalogue := readCatalogue(t)
	var want []errors.Code
	for _, entry := range catalogue.Slugs {
		code := errors.Code(entry.Slug)
		want = append(want, code)
		assert.True(t, code.Known())
		assert.Equal(t, entry.Status, code.Status())
		assert.Equal(t, entry.Condition, code.Condition())
	}
	slices.Sort(want)
	assert.Equal(t, want, errors.Codes())

	errors.Codes()[0] = "changed"
	assert.Equal(t, want, errors.Codes(), "the slice is the caller's own")
}

// Rule: error.folded
func TestUnreachedSlugs(t *testing.T) {
	catalogue := readCatalogue(t)
	require.Len(t, catalogue.Unreached, 4)
	for _, entry := range catalogue.Unreached {
		t.Run(entry.Slug, func(t *testing.T) {
			assert.False(t, errors.Code(entry.Slug).Known())
			err := errors.Decode(errors.Response{
				Status: 409,
				Body: fmt.Appendf(nil, `{"error":{"code":%q,"message":"no","details":{"blockers":[{"code":"b"}]}}}`,
					entry.Slug),
			})

			if entry.NeverRaised {
				unrecognized, ok := errors.AsType[*errors.Unrecognized](err)
				require.True(t, ok)
				assert.Equal(t, errors.Code(entry.Slug), unrecognized.Code)
				return
			}
			require.Equal(t, "contact_not_payable", entry.FoldedInto)
			folded, ok := errors.AsType[*errors.ContactNotPayable](err)
			require.True(t, ok)
			assert.Equal(t, errors.CodeContactNotPayable, folded.Code)
			assert.Equal(t, errors.Code(entry.Slug), folded.FoldedFrom)
			assert.Equal(t, []errors.Blocker{{Code: "b"}}, folded.Blockers)
		})
	}
}

func withoutUnderscores(slug string) string { return strings.ReplaceAll(slug, "_", "") }

// byHand is one zero value of each slug's type, as a program's own fakes have them.
var byHand = map[errors.Code]error{
	errors.CodeAlreadyFunded:             &errors.AlreadyFunded{},
	errors.CodeAmountAboveMaximum:        &errors.AmountAboveMaximum{},
	errors.CodeAmountBelowMinimum:        &errors.AmountBelowMinimum{},
	errors.CodeApprovalConsumed:          &errors.ApprovalConsumed{},
	errors.CodeApprovalExpired:           &errors.ApprovalExpired{},
	errors.CodeApprovalMismatch:          &errors.ApprovalMismatch{},
	errors.CodeChallengeConsumed:         &errors.ChallengeConsumed{},
	errors.CodeChallengeExpired:          &errors.ChallengeExpired{},
	errors.CodeChallengeNotFound:         &errors.ChallengeNotFound{},
	errors.CodeConflict:                  &errors.Conflict{},
	errors.CodeContactNotPayable:         &errors.ContactNotPayable{},
	errors.CodeDatabaseUnavailable:       &errors.DatabaseUnavailable{},
	errors.CodeDeveloperKeyAlreadyExists: &errors.DeveloperKeyAlreadyExists{},
	errors.CodeDeveloperKeyNotFound:      &errors.DeveloperKeyNotFound{},
	errors.CodeForbidden:                 &errors.Forbidden{},
	errors.CodeFundingAttemptExpired:     &errors.FundingAttemptExpired{},
	errors.CodeFundingInProgress:         &errors.FundingInProgress{},
	errors.CodeGone:                      &errors.Gone{},
	errors.CodeIdempotencyKeyInvalid:     &errors.IdempotencyKeyInvalid{},
	errors.CodeIdempotencyKeyReused:      &errors.IdempotencyKeyReused{},
	errors.CodeInternalError:             &errors.InternalError{},
	errors.CodeInvalidCredentials:        &errors.InvalidCredentials{},
	errors.CodeInvalidCursor:             &errors.InvalidCursor{},
	errors.CodeInvalidID:                 &errors.InvalidID{},
	errors.CodeInvalidRequest:            &errors.InvalidRequest{},
	errors.CodeKeyNotRegistered:          &errors.KeyNotRegistered{},
	errors.CodeLoginModeUnavailable:      &errors.LoginModeUnavailable{},
	errors.CodeLoginUnavailable:          &errors.LoginUnavailable{},
	errors.CodeMethodNotAllowed:          &errors.MethodNotAllowed{},
	errors.CodeNotFound:                  &errors.NotFound{},
	errors.CodePayloadTooLarge:           &errors.PayloadTooLarge{},
	errors.CodePayoutNotFundable:         &errors.PayoutNotFundable{},
	errors.CodeProviderUnavailable:       &errors.ProviderUnavailable{},
	errors.CodeQuoteExpired:              &errors.QuoteExpired{},
	errors.CodeQuoteNotSubmitted:         &errors.QuoteNotSubmitted{},
	errors.CodeRailNotAvailable:          &errors.RailNotAvailable{},
	errors.CodeRailRequirementsUnmet:     &errors.RailRequirementsUnmet{},
	errors.CodeRateLimited:               &errors.RateLimited{},
	errors.CodeRequestExpired:            &errors.RequestExpired{},
	errors.CodeSignatureInvalid:          &errors.SignatureInvalid{},
	errors.CodeSignerNotAttached:         &errors.SignerNotAttached{},
	errors.CodeSigningPolicyRefused:      &errors.SigningPolicyRefused{},
	errors.CodeTokenExpired:              &errors.TokenExpired{},
	errors.CodeUnauthenticated:           &errors.Unauthenticated{},
	errors.CodeValidationFailed:          &errors.ValidationFailed{},
	errors.CodeWalletNotLinked:           &errors.WalletNotLinked{},
}

// What an error says depends on its type, so that a zero value says the same as one that was received.
func TestErrorsImplementTheirInterfaces(t *testing.T) {
	catalogue := readCatalogue(t)
	require.Len(t, byHand, len(catalogue.Slugs))
	for _, entry := range catalogue.Slugs {
		code := errors.Code(entry.Slug)
		for name, err := range map[string]error{
			"made by hand": byHand[code],
			"received": errors.Decode(errors.Response{
				CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42"}, Status: entry.Status,
				Body: fmt.Appendf(nil, `{"error":{"code":%q,"message":"no"}}`, entry.Slug),
			}),
		} {
			t.Run(entry.Slug+" "+name, func(t *testing.T) {
				remedy := errors.Remedy(entry.Remedy.or(catalogue.Defaults.Remedy))
				moved := errors.Movement(entry.Moved.or(catalogue.Defaults.Moved))

				failure, ok := errors.AsType[errors.Failure](err)
				require.True(t, ok)
				assert.Equal(t, moved, failure.MovedByCall())
				assert.Equal(t, remedy == errors.RemedyWait, failure.Retryable())

				refusal, ok := errors.AsType[*errors.Refusal](fmt.Errorf("paying: %w", err))
				require.True(t, ok)
				assert.Equal(t, code, refusal.Code)
				assert.Equal(t, remedy, refusal.Remedy())
				assert.Equal(t, moved, refusal.MovedByCall())
				assert.Equal(t, remedy == errors.RemedyWait, refusal.Retryable())

				itself, ok := err.(interface{ Remedy() errors.Remedy })
				require.True(t, ok)
				assert.Equal(t, remedy, itself.Remedy())

				assert.Contains(t, err.Error(), entry.Slug)
				assert.True(t, errors.HasCode(fmt.Errorf("paying: %w", err), code))
			})
		}
	}
}
