package soak_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// keepTrace writes what is needed to see why a test failed to a folder that stays, and names it: the requests and the
// audit of the payments that the checks complained about, or of all, and what each worker printed.
func (w *world) keepTrace() {
	folder, err := os.MkdirTemp("", "soak-")
	if err != nil {
		w.Logf("no trace: %v", err)
		return
	}
	keys := map[string]string{}
	var audit strings.Builder
	for audited := range w.host.Audit() {
		for _, id := range audited.PayoutIDs {
			keys[id] = audited.Key
		}
		if len(w.broken) == 0 || w.broken[audited.Key] {
			text, err := json.Marshal(audited)
			fmt.Fprintf(&audit, "%s %v\n", text, err)
		}
	}
	var requests strings.Builder
	for _, r := range w.host.Raw() {
		key := keyOfRequest(r.Path, r.Header.Get("Idempotency-Key"), keys)
		if len(w.broken) == 0 || w.broken[key] {
			fmt.Fprintf(&requests, "%s %s %s %s, key %s, %s\n", r.At.Format("15:04:05.000000"),
				r.Header.Get(workerHeader), r.Method, r.Path, key, r.Body)
		}
	}
	var kills strings.Builder
	for _, k := range w.kills {
		fmt.Fprintf(&kills, "%s %s\n", k.at.Format("15:04:05.000000"), k.worker)
	}
	files := map[string]string{"requests": requests.String(), "audit": audit.String(), "kills": kills.String()}
	for _, r := range w.workers {
		files[r.work.Name] = r.Output()
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			w.Logf("the trace: %v", err)
		}
	}
	w.Logf("The requests of the payments and the output of the workers are in %s", folder)
}
