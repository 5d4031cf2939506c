package dapi_test

import (
	"net/http"
	"strings"
)

// header finds a header however its name is spelled.
func header(r *http.Request, name string) string {
	for spelled, values := range r.Header {
		if strings.EqualFold(spelled, name) {
			return values[0]
		}
	}
	return ""
}
