package sandbox

import (
	"cmp"
	"net/http"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
)

// operator sees every account of the host.
func (h *Host) operator() platform.Operator {
	return h.platform.Operator(h.seed.key.Owner, h.seed.key.Email)
}

func (c control) listAccounts(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Accounts(findOf(r)), nil
}

func (c control) credit(r *http.Request) (int, any, error) {
	var order struct {
		Account  string          `json:"account"`
		Amount   decimal.Decimal `json:"amount"`
		Currency string          `json:"currency"`
	}
	if err := read(r, &order); err != nil {
		return 0, nil, err
	}
	made, err := c.host.operator().Credit(order.Account, order.Amount, cmp.Or(order.Currency, "USDC"))
	return http.StatusCreated, made, err
}

func (c control) listPayouts(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Payouts(findOf(r)), nil
}

func (c control) listPayins(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Payins(findOf(r)), nil
}

func (c control) listVerifications(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Verifications(findOf(r)), nil
}

func (c control) listEscrows(r *http.Request) (int, any, error) {
	return http.StatusOK, c.host.operator().Escrows(findOf(r)), nil
}

func (c control) readLedger(r *http.Request) (int, any, error) {
	last, err := countOf(r, "last", "last is how many movements are returned at most.")
	return http.StatusOK, c.host.operator().Ledger(findOf(r), last), err
}

func (c control) movePayout(r *http.Request) (int, any, error) {
	return move(r, c.host.MovePayout)
}

func (c control) movePayin(r *http.Request) (int, any, error) {
	return move(r, c.host.operator().MovePayin)
}

func (c control) decideVerification(r *http.Request) (int, any, error) {
	return move(r, c.host.operator().Decide)
}

// move reads the status that a resource is moved to.
func move(r *http.Request, to func(id, status string) error) (int, any, error) {
	var order struct {
		Status string `json:"status"`
	}
	if err := read(r, &order); err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, to(r.PathValue("id"), order.Status)
}
