package service

import (
	"net/http"
	"strconv"
)

// Ledger returns a service with so many full pages of the ledger. The cursor is the number of the page.
func Ledger(pages int) *Service {
	prepared := make([]*Response, pages)
	for i := range pages {
		prepared[i] = ledgerPage(i, pages)
	}
	return By(func(r *http.Request) *Response { return prepared[cursor(r)] })
}

// LongLedger is Ledger for more pages than fit into memory: it writes each page when it is asked for.
func LongLedger(pages int) *Service {
	return By(func(r *http.Request) *Response { return ledgerPage(cursor(r), pages) })
}

func ledgerPage(number, pages int) *Response {
	next := ""
	if number+1 < pages {
		next = strconv.Itoa(number + 1)
	}
	return JSON(http.StatusOK, Page(Plain, number, next))
}

// cursor is 0 on the first page, which has none.
func cursor(r *http.Request) int {
	number, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	return number
}
