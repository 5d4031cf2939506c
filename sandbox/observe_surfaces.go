package sandbox

import (
	"maps"
	"time"
)

// WalletLogin is a login with a wallet at the reference endpoints.
type WalletLogin struct {
	Account string // the integrator's id
	Wallet  string // its address
	// DeviceID, DeviceType and DeviceName are how the device describes itself. If DeviceType or DeviceName is not sent,
	// it is ios.
	DeviceID, DeviceType, DeviceName string
	At                               time.Time // on the host's clock
}

// WalletLogins returns the wallet logins, oldest first.
func (h *Host) WalletLogins() []WalletLogin {
	taken := h.app.Logins()
	logins := make([]WalletLogin, len(taken))
	for i, login := range taken {
		logins[i] = WalletLogin(login)
	}
	return logins
}

// PartnerEvent is an event that a partner sent to its webhook at the reference endpoints.
type PartnerEvent struct {
	Partner                         string // the partner's name, from the path
	EventType, EntityID, EntityType string
	CreatedAt                       string // as the partner wrote it
	Payload                         map[string]any
	At                              time.Time // when it arrived, on the host's clock
}

// PartnerEvents returns the events that partners sent, oldest first.
func (h *Host) PartnerEvents() []PartnerEvent {
	taken := h.app.Events()
	events := make([]PartnerEvent, len(taken))
	for i, event := range taken {
		events[i] = PartnerEvent(event)
		events[i].Payload = maps.Clone(event.Payload)
	}
	return events
}
