package main

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// readEquivalents reads the ids of the mutants that change nothing. An id without a mutant is an error, so that the
// list stays true.
func readEquivalents(path string, units []*unit) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var groups []struct {
		Reason  string
		Mutants []string
	}
	if err := yaml.Unmarshal(text, &groups); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	known := map[string]bool{}
	for _, u := range units {
		for _, s := range u.Sources {
			for _, m := range s.Mutants {
				known[m.ID] = true
			}
		}
	}
	listed := map[string]bool{}
	for _, group := range groups {
		for _, id := range group.Mutants {
			switch {
			case group.Reason == "":
				return nil, fmt.Errorf("%s: %q has no reason", path, id)
			case !known[id]:
				return nil, fmt.Errorf("%s: %q is no mutant: the code has changed, so judge it again", path, id)
			case listed[id]:
				return nil, fmt.Errorf("%s: %q is there twice", path, id)
			}
			listed[id] = true
		}
	}
	return listed, nil
}
