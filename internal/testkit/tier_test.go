package testkit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// recordedTest is a test that notes how it ends.
type recordedTest struct {
	testing.TB
	skipped, failed string
}

func (n *recordedTest) Helper()                   {}
func (n *recordedTest) Fatal(said ...any)         { n.failed = said[0].(string) } //nolint:forcetypeassert // of Missing
func (n *recordedTest) Skipf(_ string, of ...any) { n.skipped = of[0].(string) }  //nolint:forcetypeassert // of Missing

func TestMissingToolFailsWhereItIsRequired(t *testing.T) {
	for value, want := range map[string]recordedTest{
		"": {skipped: "no browser"}, "servers,soak": {skipped: "no browser"},
		"browser": {failed: "no browser"}, "servers, browser,": {failed: "no browser"},
	} {
		t.Setenv(variable, value)
		got := recordedTest{}
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

func TestUnknownRequirementPanics(t *testing.T) {
	t.Setenv(variable, "soak,server")
	assert.PanicsWithValue(t, `MONEYMOVEMENT_REQUIRE: "server" means nothing, known are servers, browser, pages, hsm, soak`,
		func() { Soak() })
	t.Setenv(variable, "")
	assert.Panics(t, func() { Missing(t, "printer", "no printer") })
}
