// Command raw reads one payout with net/http and encoding/json alone: what the other programs are compared with.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	//gosec:disable G704 -- the address is the argument of the program
	resp, err := new(http.Client).Get(os.Args[1] + "/dapi/v1/payouts/po_1") //nolint:noctx // a minimal program
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var payout struct {
		ID string `json:"id"`
	}
	fmt.Println(json.NewDecoder(resp.Body).Decode(&payout), payout.ID)
}
