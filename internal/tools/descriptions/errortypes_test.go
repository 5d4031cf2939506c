package descriptions_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
)

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
func TestErrorsAnswerByType(t *testing.T) {
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
