package sandbox

import (
	"maps"
	"time"
)

// WalletLogin is a login with a wallet that the reference endpoints took.
// Source: Reference endpoints under /api/v1.
type WalletLogin struct {
	Account string // the integrator's id
	Wallet  string // its address
	// DeviceID, DeviceType and DeviceName are how the device described itself; its type and name are ios if it did not.
	DeviceID, DeviceType, DeviceName string
	At                               time.Time // on the host's clock
}

// WalletLogins answers the wallet logins, oldest first.
func (h *Host) WalletLogins() []WalletLogin {
	taken := h.app.Logins()
	logins := make([]WalletLogin, len(taken))
	for i, login := range taken {
		logins[i] = WalletLogin(login)
	}
	return logins
}

// PartnerEvent is what a partner reported to its webhook. Source: Events.
type PartnerEvent struct {
	Partner                         string // its name in the path
	EventType, EntityID, EntityType string
	CreatedAt                       string // when it happened, in the partner's words
	Payload                         map[string]any
	At                              time.Time // when it arrived, on the host's clock
}

// PartnerEvents answers what partners reported, oldest first.
func (h *Host) PartnerEvents() []PartnerEvent {
	taken := h.app.Events()
	events := make([]PartnerEvent, len(taken))
	for i, event := range taken {
		events[i] = PartnerEvent(event)
		events[i].Payload = maps.Clone(event.Payload)
	}
	return events
}
