package refapi_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// The handler passes each event of a partner to a function.
func ExampleWebhookHandler() {
	handler := &refapi.WebhookHandler{Handle: func(_ context.Context, event refapi.WebhookEvent) error {
		fmt.Println(event.EventType, "of", event.EntityType, event.EntityID)
		return nil // for an error, the partner gets a 500 and sends the event again
	}}
	server := httptest.NewServer(handler)
	defer server.Close()

	body := `{"eventType":"approved","entityType":"applicant","entityId":"a_7","createdAt":"2026-01-02T03:04:05Z"}`
	post, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(post)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.StatusCode)
	// Output:
	// approved of applicant a_7
	// 200
}

// The description states no signature. This one is what a deployment agreed on with its partner.
func ExampleWebhookHandler_verify() {
	secret := []byte("agreed on with acme")
	sign := func(body []byte) string {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		return hex.EncodeToString(mac.Sum(nil))
	}
	handler := &refapi.WebhookHandler{
		Verify: func(_ context.Context, delivery refapi.WebhookDelivery) error {
			if !hmac.Equal([]byte(delivery.Header.Get("X-Acme-Signature")), []byte(sign(delivery.Body))) {
				return errors.New("the signature does not match the body")
			}
			return nil
		},
		Handle: func(_ context.Context, event refapi.WebhookEvent) error {
			fmt.Println(event.EventType, "of", event.EntityType, event.EntityID)
			return nil
		},
		OnError: func(_ *http.Request, _ string, err error) { fmt.Println(err) },
	}

	body := `{"eventType":"approved","entityType":"applicant","entityId":"a_7","createdAt":"2026-01-02T03:04:05Z"}`
	for _, signature := range []string{sign([]byte(body)), "forged"} {
		post := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/api/v1/webhook/acme",
			strings.NewReader(body))
		post.Header.Set("Content-Type", "application/json")
		post.Header.Set("X-Acme-Signature", signature)
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, post)
		fmt.Println(response.Code)
	}
	// Output:
	// approved of applicant a_7
	// 200
	// the signature does not match the body
	// 401
}

// A partner reports an event to the service. Send is never sent twice.
func ExampleWebhooks_Send() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}
	ok, err := client.Webhooks.Send(context.Background(), "acme", refapi.WebhookEvent{
		EventType: "approved", EntityType: "applicant", EntityID: "a_7",
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339),
	})
	var unknown *errors.OutcomeUnknown
	switch {
	case errors.As(err, &unknown):
		fmt.Println("the service may have the event: ask before you send it again")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("accepted:", ok)
	}
	// Output: accepted: true
}
