package session

import "crypto/rand"

// Account answers the id of an integrator's account and its email as it is
// kept; an email that is new makes a new account.
func (r *Registry) Account(email string) (id, canonical string) {
	canonical = canonicalEmail(email)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accountOf(canonical), canonical
}

// accountOf needs the lock to be held.
func (r *Registry) accountOf(email string) string {
	if r.owners[email] == "" {
		r.owners[email] = "acc_" + rand.Text()
	}
	return r.owners[email]
}

// OwnerOf answers the id of the integrator's account that has the email.
func (r *Registry) OwnerOf(email string) (id string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	id, ok = r.owners[canonicalEmail(email)]
	return id, ok
}
