package errorpage_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/errorpage"
)

type Refused struct{ cause error }

func (r *Refused) Error() string {
	text := "refused"
	if r.cause != nil {
		text += " (" + r.cause.Error() + ")"
	}
	return errorpage.Text(r, text)
}

// A text has one link, at its end: that of the outermost error.
func TestATextHasOneLink(t *testing.T) {
	const link = " - see https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#"
	inner := &Refused{}
	assert.Equal(t, "refused"+link+"errorpage_testrefused", inner.Error())
	assert.Equal(t, "refused (refused)"+link+"errorpage_testrefused", (&Refused{inner}).Error())
	assert.Equal(t, "refused (refused)"+link+"not_found", errorpage.To("not_found", (&Refused{inner}).Error()))

	joined := fmt.Sprintf("%v: %v", inner, inner)
	assert.Equal(t, "refused: refused", errorpage.Without(joined))
	assert.Equal(t, "https://host.example", errorpage.Without("https://host.example"))
	assert.Equal(t, "dapipricerefused", errorpage.Anchor("dapi.PriceRefused"))
}
