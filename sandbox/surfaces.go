package sandbox

import (
	"github.com/moneymovement/moneymovement-go/sandbox/internal/appapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/publicapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
)

// What the generated server of each surface mounts: state machines side by side,
// each with the operations of its own concern.
type (
	platformOperations struct {
		*session.Login
		*platform.Platform
	}
	appOperations       struct{ appapi.StrictServerInterface }
	referenceOperations struct{ refapi.StrictServerInterface }
	publicOperations    struct {
		publicapi.StrictServerInterface
	}
)
