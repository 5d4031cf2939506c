package refuse_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

func every() []*refuse.Refusal {
	return []*refuse.Refusal{
		refuse.InvalidRequest("x"),
		refuse.ValidationFailed("query", refuse.Field{Field: "limit", Code: "maximum", Message: "Too many."}),
		refuse.InvalidField("amount", "amount_precision", "Too many decimals."),
		refuse.InvalidCursor(), refuse.InvalidID("ct_"),
		refuse.IdempotencyKeyInvalid(), refuse.IdempotencyKeyReused("payoutId", "po_1"),
		refuse.NotFound(), refuse.MethodNotAllowed(), refuse.Conflict("x"), refuse.Gone("x"), refuse.PayloadTooLarge(),
		refuse.RateLimited(time.Minute),
		refuse.Unauthenticated(), refuse.TokenExpired(),
		refuse.Forbidden(), refuse.DeveloperSessionRequired(), refuse.MissingScope("read", nil),
		refuse.InvalidCredentials(), refuse.RequestExpired(),
		refuse.ChallengeNotFound(), refuse.ChallengeConsumed(), refuse.ChallengeExpired(),
		refuse.LoginUnavailable(), refuse.LoginModeUnavailable("signed_challenge"),
		refuse.DeveloperKeyNotFound(), refuse.DeveloperKeyAlreadyExists(),
		refuse.SignatureInvalid(), refuse.KeyNotRegistered(), refuse.SignerNotAttached(), refuse.WalletNotLinked(),
		refuse.ApprovalConsumed(), refuse.ApprovalExpired(), refuse.ApprovalMismatch(), refuse.SigningPolicyRefused(),
		refuse.QuoteExpired(), refuse.FundingAttemptExpired(), refuse.AlreadyFunded("po_1", "0x1"),
		refuse.FundingInProgress(),
		refuse.ContactNotPayable(nil), refuse.PayoutNotFundable("x", nil), refuse.QuoteNotSubmitted(),
		refuse.RailNotAvailable(), refuse.RailRequirementsUnmet(nil),
		refuse.AmountBelowMinimum(), refuse.AmountAboveMaximum("100"),
		refuse.InternalError(), refuse.ProviderUnavailable("x"), refuse.DatabaseUnavailable(),
	}
}

func TestEveryRefusalIsInTheErrorCatalogueWithItsStatus(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../openapi/errors.yaml")
	require.NoError(t, err)
	var catalogue struct {
		Slugs []struct {
			Slug    string
			Status  int
			Details []struct{ Key string }
		}
	}
	require.NoError(t, yaml.Unmarshal(source, &catalogue))

	made := map[string]bool{}
	for _, refusal := range every() {
		made[refusal.Code] = true
	}
	status, details := map[string]int{}, map[string][]string{}
	for _, entry := range catalogue.Slugs {
		assert.True(t, made[entry.Slug], "no constructor makes %s", entry.Slug)
		status[entry.Slug] = entry.Status
		for _, detail := range entry.Details {
			details[entry.Slug] = append(details[entry.Slug], detail.Key)
		}
	}
	for _, refusal := range every() {
		assert.Equal(t, status[refusal.Code], refusal.Status, refusal.Code)
		assert.NotEmpty(t, refusal.Message, refusal.Code)
		for key := range refusal.Details {
			assert.Contains(t, details[refusal.Code], key, refusal.Code)
		}
	}
}

func TestRefusalsCompareBySlug(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("booking: %w", refuse.AlreadyFunded("po_1", "0x1"))
	assert.ErrorIs(t, wrapped, refuse.AlreadyFunded("", ""))
	assert.NotErrorIs(t, wrapped, refuse.NotFound())

	var refusal *refuse.Refusal
	require.ErrorAs(t, wrapped, &refusal)
	assert.Equal(t, "409 already_funded: The payment is already funded.", refusal.Error())
}

func TestForbiddenVariantsDifferInTheirDetails(t *testing.T) {
	t.Parallel()
	assert.Nil(t, refuse.Forbidden().Details)
	assert.Equal(t, map[string]any{"reason": "developerSessionRequired"}, refuse.DeveloperSessionRequired().Details)
	assert.Equal(t, map[string]any{"requiredScope": "read", "scope": []string{}}, refuse.MissingScope("read", nil).
		Details)
}
