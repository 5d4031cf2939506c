package session

import "crypto/rand"

// Account returns the id of an integrator's account and its email as it is stored. For a new email it creates an
// account.
func (r *Registry) Account(email string) (id, canonical string) {
	canonical = CanonicalEmail(email)
	r.mu.Lock()
	defer r.leave()
	return r.accountOf(canonical), canonical
}

// accountOf must be called with the lock held.
func (r *Registry) accountOf(email string) string {
	if known := r.owners.Get(email); known != nil {
		return known.ID
	}
	opened := &owner{"acc_" + rand.Text()}
	r.owners.Put(email, opened)
	return opened.ID
}

// OwnerOf returns the id of the integrator's account that has the email.
func (r *Registry) OwnerOf(email string) (id string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if known := r.owners.Get(CanonicalEmail(email)); known != nil {
		return known.ID, true
	}
	return "", false
}
