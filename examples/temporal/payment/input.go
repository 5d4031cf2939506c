package payment

import (
	"strconv"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Input is one payment. Store it in your database before you start the workflow.
type Input struct {
	// ID identifies the payment in your database. The idempotency key derives from it, and from Try.
	ID string
	// Try is 0 at first. After a payment came back, a payment with a higher Try has a new key, and pays again.
	Try int
	// Account is the client that pays. payments.OwnAccount is the account of the developer key.
	Account dapi.ClientID
	Terms   dapi.PayoutCreate
	Bounds  dapi.Bounds
	// FirstUsed is zero, unless another workflow was started for this ID and Try before: then it is the time of that
	// first start. Temporal forgets a closed workflow after its retention time, so only your database knows this.
	FirstUsed time.Time
}

// key derives the key from the input alone. A run id or a random number would differ in the next run, and the next run
// would pay a second time.
func (i Input) key(try int) moneymovement.Key {
	return moneymovement.DeriveKey("temporal-payment", i.ID, strconv.Itoa(try))
}
