package wire_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func every() []*wire.Refusal {
	return []*wire.Refusal{
		wire.InvalidRequest("x"),
		wire.ValidationFailed("query", wire.Field{Field: "limit", Code: "maximum", Message: "Too many."}),
		wire.InvalidField("amount", "amount_precision", "Too many decimals."),
		wire.InvalidCursor(), wire.InvalidID("ct_"),
		wire.IdempotencyKeyInvalid(), wire.IdempotencyKeyReused("payoutId", "po_1"),
		wire.NotFound(), wire.MethodNotAllowed(), wire.Conflict("x"), wire.Gone("x"), wire.PayloadTooLarge(),
		wire.RateLimited(time.Minute),
		wire.Unauthenticated(), wire.TokenExpired(),
		wire.Forbidden(), wire.DeveloperSessionRequired(), wire.MissingScope("read", nil),
		wire.InvalidCredentials(), wire.RequestExpired(),
		wire.ChallengeNotFound(), wire.ChallengeConsumed(), wire.ChallengeExpired(),
		wire.LoginUnavailable(), wire.LoginModeUnavailable("signed_challenge"),
		wire.DeveloperKeyNotFound(), wire.DeveloperKeyAlreadyExists(),
		wire.SignatureInvalid(), wire.KeyNotRegistered(), wire.SignerNotAttached(), wire.WalletNotLinked(),
		wire.ApprovalConsumed(), wire.ApprovalExpired(), wire.ApprovalMismatch(), wire.SigningPolicyRefused(),
		wire.QuoteExpired(), wire.FundingAttemptExpired(), wire.AlreadyFunded("po_1", "0x1"),
		wire.FundingInProgress(),
		wire.ContactNotPayable(nil), wire.PayoutNotFundable("x", nil), wire.QuoteNotSubmitted(),
		wire.RailNotAvailable(), wire.RailRequirementsUnmet(nil),
		wire.AmountBelowMinimum(), wire.AmountAboveMaximum("100"),
		wire.InternalError(), wire.ProviderUnavailable("x"), wire.DatabaseUnavailable(),
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
	wrapped := fmt.Errorf("booking: %w", wire.AlreadyFunded("po_1", "0x1"))
	assert.ErrorIs(t, wrapped, wire.AlreadyFunded("", ""))
	assert.NotErrorIs(t, wrapped, wire.NotFound())

	var refusal *wire.Refusal
	require.ErrorAs(t, wrapped, &refusal)
	assert.Equal(t, "409 already_funded: The payment is already funded.", refusal.Error())
}

func TestForbiddenVariantsDifferInTheirDetails(t *testing.T) {
	t.Parallel()
	assert.Nil(t, wire.Forbidden().Details)
	assert.Equal(t, map[string]any{"reason": "developerSessionRequired"}, wire.DeveloperSessionRequired().Details)
	assert.Equal(t, map[string]any{"requiredScope": "read", "scope": []string{}}, wire.MissingScope("read", nil).
		Details)
}
