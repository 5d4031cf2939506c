package outsider_test

import (
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/recorded"
)

// A fake takes the host's responses from the SDK's own module.
func TestRecordedResponsesAreThere(t *testing.T) {
	for _, operation := range recorded.Operations() {
		if _, err := recorded.Response(operation, time.Now()); err != nil {
			t.Error(operation, err)
		}
	}
}
