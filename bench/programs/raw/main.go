// Command raw reads one payout with net/http and encoding/json alone: what the other programs are compared with.
package main

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/moneymovement/moneymovement-go/bench/programs/done"
)

func main() { done.With(run(os.Args[1])) }

func run(base string) (any, error) {
	//gosec:disable G704 -- the address is the argument of the program
	resp, err := new(http.Client).Get(base + "/dapi/v1/payouts/po_1") //nolint:noctx // a minimal program
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var payout struct {
		ID string `json:"id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&payout); err != nil {
		return nil, err
	}
	return payout.ID, nil
}
