package platform_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func TestClientBecomesReadyOnHostClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.ClientReadyAfter = deployment.Duration(time.Second) })

	created := b.createClient(platformwire.ClientCreate{Email: "acme@example.com", EntityName: "Acme",
		Type: platformwire.ClientTypeBusiness})
	require.Equal(t, http.StatusCreated, created.Code)
	client := read[platformwire.Client](t, created)
	assert.Regexp(t, `^cl_[A-Za-z0-9._:\-]{1,216}$`, client.ID)
	assert.Equal(t, platformwire.ClientStatusPending, client.Status)
	assert.Empty(t, client.BaseSmartWallet, "absent until ready")
	assert.Len(t, client.Balances, 2)

	b.clock.Advance(999 * time.Millisecond)
	assert.Equal(t, platformwire.ClientStatusPending, b.client(client.ID).Status)
	_, err := b.deposit(client.ID, "", "1", platformwire.AssetUSDC)
	assert.ErrorIs(t, err, wire.WalletNotLinked())

	b.clock.Advance(time.Millisecond)
	ready := b.client(client.ID)
	assert.Equal(t, platformwire.ClientStatusReady, ready.Status)
	assert.Regexp(t, `^0x[0-9a-f]{40}$`, ready.BaseSmartWallet)
	_, err = b.deposit(client.ID, "", "1.5", platformwire.AssetEURC)
	require.NoError(t, err)
	assert.Equal(t, "1.5", b.client(client.ID).Balances[1].Available.String())
}

func TestCreateClientIsIdempotentByEmail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.createClient(platformwire.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	again := b.createClient(platformwire.ClientCreate{Email: "ACME@example.com", EntityName: "Other"})
	assert.False(t, first.replayed())
	assert.NotContains(t, first.Header(), "Idempotency-Replayed")
	assert.True(t, again.replayed())
	assert.Equal(t, http.StatusOK, again.Code)
	assert.Equal(t, read[platformwire.Client](t, first).ID, read[platformwire.Client](t, again).ID)
	assert.Equal(t, "Acme", read[platformwire.Client](t, again).EntityName)
}

func TestClientOfAnotherIntegratorIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := read[platformwire.Client](t, b.createClient(platformwire.ClientCreate{Email: "acme@example.com"})).ID
	other := wire.WithCaller(t.Context(), wire.Caller{Owner: "acc_2", Email: "else@example.com", Account: wire.Self})

	_, err := b.GetClient(other, id)
	assert.ErrorIs(t, err, wire.NotFound())
	_, err = b.GetClient(b.as(wire.Self, ""), wire.Self)
	assert.ErrorIs(t, err, wire.NotFound(), "the integrator is no client")
	assert.True(t, b.HasClient("acc_1", id))
	assert.False(t, b.HasClient("acc_2", id))
	assert.False(t, b.HasClient("acc_1", wire.Self))

	b.Reset()
	assert.False(t, b.HasClient("acc_1", id))
	_, err = b.deposit(id, "", "1", platformwire.AssetUSDC)
	assert.ErrorIs(t, err, wire.NotFound())
}

// refusalOf asserts that err is a refusal with this slug.
func refusalOf(t testing.TB, err error, code string) *wire.Refusal {
	t.Helper()
	var refusal *wire.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, code, refusal.Code)
	return refusal
}

// details asserts a refusal with this slug, and returns a member of its details.
func details[T any](t testing.TB, err error, code, key string) T {
	t.Helper()
	value, ok := refusalOf(t, err, code).Details[key].(T)
	require.True(t, ok, "details have no such %s", key)
	return value
}

func TestRequirementsFollowTheLegalForm(t *testing.T) {
	t.Parallel()
	type applicant = map[string]any
	name := []string{"applicant.legalName"}
	for what, tc := range map[string]struct {
		kind      platformwire.ClientType
		applicant applicant
		want      []string
	}{
		"business by legal name":  {platformwire.ClientTypeBusiness, applicant{"legalName": "Acme Ltd"}, nil},
		"business by entity name": {platformwire.ClientTypeBusiness, applicant{"entityName": "Acme Ltd"}, nil},
		"business by a person": {platformwire.ClientTypeBusiness,
			applicant{"firstName": "Ann", "lastName": "Roe"}, name},
		"business of blanks":   {platformwire.ClientTypeBusiness, applicant{"legalName": "  "}, name},
		"business of a number": {platformwire.ClientTypeBusiness, applicant{"legalName": 7}, name},
		"individual": {platformwire.ClientTypeIndividual,
			applicant{"firstName": "Ann", "lastName": "Roe"}, nil},
		"individual by legal name": {platformwire.ClientTypeIndividual, applicant{"legalName": "Acme Ltd"},
			[]string{"applicant.firstName", "applicant.lastName"}},
		"individual without surname": {platformwire.ClientTypeIndividual, applicant{"firstName": "Ann"},
			[]string{"applicant.lastName"}},
		"either, as a business":  {"", applicant{"legalName": "Acme Ltd"}, nil},
		"either, as a person":    {"", applicant{"firstName": "Ann", "lastName": "Roe"}, nil},
		"either, half a person":  {"", applicant{"lastName": "Roe"}, []string{"applicant.firstName"}},
		"either, without a name": {"", applicant{}, name},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			id := read[platformwire.Client](b,
				b.createClient(platformwire.ClientCreate{Email: "acme@example.com", Type: tc.kind})).ID
			tc.applicant["country"] = "DE"
			saved, err := b.saveKYB(id,
				platformwire.KYBInformation{Applicant: tc.applicant, DocumentIds: []string{"doc_1"}})
			require.NoError(t, err)
			var got []string
			for _, open := range saved.Requirements {
				got = append(got, open.Field)
			}
			assert.Equal(t, tc.want, got)
			_, err = b.completeKYB(id)
			assert.Equal(t, tc.want == nil, err == nil)
		})
	}
}

func TestVerificationDocumentLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.readyClient("acme@example.com")
	save := func(from, to int) error {
		var ids []string
		for i := from; i < to; i++ {
			ids = append(ids, fmt.Sprintf("doc_%d", i))
		}
		_, err := b.saveKYB(client, platformwire.KYBInformation{DocumentIds: ids})
		return err
	}
	require.NoError(t, save(0, 50))
	require.NoError(t, save(0, 50), "the same ones again")
	assert.ErrorIs(t, save(50, 51), wire.ValidationFailed(""))
}

// The order of documents does not matter to a submission.
func TestKYBSubmissionIsIdempotentByContent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.readyClient("acme@example.com")
	b.verify(client)
	first, err := b.completeKYB(client)
	require.NoError(t, err)
	_, err = b.saveKYB(client, platformwire.KYBInformation{Applicant: map[string]any{"country": "DE", "note": nil},
		DocumentIds: []string{"doc_1"}})
	require.NoError(t, err)
	again, err := b.completeKYB(client)
	require.NoError(t, err)
	assert.Equal(t, first, again)

	_, err = b.saveKYB(client, platformwire.KYBInformation{DocumentIds: []string{"doc_2"}})
	require.NoError(t, err)
	changed, err := b.completeKYB(client)
	require.NoError(t, err)
	assert.NotEqual(t, first.SnapshotID, changed.SnapshotID)
}
