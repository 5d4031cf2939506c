package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// validateAnswer reports a response that differs from the description.
func (g *Gate) validateAnswer(a *answer, r *http.Request, route *route, parameters map[string]string) {
	if g.violation == nil {
		return
	}
	a.finish()
	if err := g.described(r.Context(), a, r, route, parameters); err != nil {
		g.violation(route.operation, fmt.Errorf("%s returned %d: %w", route.operation, a.status, err))
	}
}

func (g *Gate) described(
	ctx context.Context, a *answer, r *http.Request, route *route, parameters map[string]string,
) error {
	if a.status < http.StatusBadRequest && route.described.Operation.Responses.Status(a.status) == nil {
		return errors.New("the description has no such success")
	}
	options := *g.validation
	if response := route.described.Operation.Responses.Status(a.status); response != nil {
		media := a.header.Get("Content-Type")
		if len(response.Value.Content) > 0 && response.Value.Content.Get(media) == nil {
			return fmt.Errorf("the description has no %s", media)
		}
		options.ExcludeResponseBody = media != "application/json" // a schema says nothing about bytes
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: g.input(r, route, parameters),
		Status:                 a.status, Header: a.header, Options: &options,
	}
	return openapi3filter.ValidateResponse(ctx, input.SetBodyBytes(a.body))
}
