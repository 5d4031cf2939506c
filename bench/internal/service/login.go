package service

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// Token is the access token of every session. It belongs to nobody.
//
//gosec:disable G101 -- it opens nothing
const Token = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbF84ZksybjVReFQzdlIifQ.c2lnbmF0dXJl"

// LoggingIn returns a service that logs clients in, and responds to all other requests with a payout.
func LoggingIn() *Service {
	challenge := JSON(http.StatusCreated, `{"challengeId":"ch_01J9Z3K8","payload":"`+
		base64.StdEncoding.EncodeToString([]byte("log in: 01J9Z3K8R0QW5T7"))+`","expiresAt":"`+
		time.Now().Add(5*time.Minute).UTC().Format(time.RFC3339)+`"}`)
	grant := JSON(http.StatusCreated, `{"accessToken":"`+Token+`","refreshToken":"refresh","tokenType":"Bearer",`+
		`"expiresIn":3600,"refreshExpiresIn":5184000}`)
	payout := JSON(http.StatusOK, Payout(Plain))
	return By(func(r *http.Request) *Response {
		switch {
		case strings.HasSuffix(r.URL.Path, "/auth/challenge"):
			return challenge
		case strings.HasSuffix(r.URL.Path, "/auth/token"):
			return grant
		}
		return payout
	})
}
