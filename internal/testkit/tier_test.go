package testkit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// noted is a test that notes how it ends.
type noted struct {
	testing.TB
	skipped, failed string
}

func (n *noted) Helper()                   {}
func (n *noted) Fatal(said ...any)         { n.failed = said[0].(string) } //nolint:forcetypeassert // of Missing
func (n *noted) Skipf(_ string, of ...any) { n.skipped = of[0].(string) }  //nolint:forcetypeassert // of Missing

func TestWhatIsMissingIsAFailureWhereItIsRequired(t *testing.T) {
	for value, want := range map[string]noted{
		"": {skipped: "no browser"}, "servers,soak": {skipped: "no browser"},
		"browser": {failed: "no browser"}, "servers, browser,": {failed: "no browser"},
	} {
		t.Setenv(variable, value)
		got := noted{}
		if Missing(&got, "browser", "no browser"); got.failed != "" {
			got.skipped = "" // a real test has ended
		}
		assert.Equal(t, want, got, value)
	}
}

func TestSizes(t *testing.T) {
	t.Setenv(variable, "servers")
	assert.Equal(t, 1, Size(1, 1000))
	t.Setenv(variable, "servers,soak")
	assert.Equal(t, 1000, Size(1, 1000))
	assert.True(t, Soak())
}

func TestAnUnknownWordIsAFailure(t *testing.T) {
	t.Setenv(variable, "soak,server")
	assert.PanicsWithValue(t, `MONEYMOVEMENT_REQUIRE: "server" means nothing, known are servers, browser, pages, soak`,
		func() { Soak() })
	t.Setenv(variable, "")
	assert.Panics(t, func() { Missing(t, "printer", "no printer") })
}
