package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
)

// A login for the example: anybody is who they say they are. The cookie is signed, so that a name is of a login.

// cookieKey signs the cookies of this process.
var cookieKey = []byte(rand.Text())

const (
	cookieName = "person"
	loginPage  = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Log in</title>
<form method="post"><label>Your name <input name="name" required maxlength="100" autofocus></label>
<button>Log in</button></form></html>`
)

func logIn(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSpace(r.PostFormValue("name"))
	if r.Method != http.MethodPost || name == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(loginPage))
		return
	}
	value := base64.RawURLEncoding.EncodeToString([]byte(name)) // which has no point
	//gosec:disable G124 -- it is for a loopback address without TLS; a company's login sets Secure as well
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value + "." + signature(value), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/payments/", http.StatusSeeOther)
}

var errNoLogin = errors.New("nobody is logged in")

// personOf returns the name of the person who makes a request.
func personOf(r *http.Request) (string, error) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return "", errNoLogin
	}
	value, signed, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(signed), []byte(signature(value))) {
		return "", errNoLogin
	}
	name, err := base64.RawURLEncoding.DecodeString(value)
	return string(name), err
}

func signature(value string) string {
	mac := hmac.New(sha256.New, cookieKey)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil))
}
