package control

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// suggestTimeout is how long a shell waits for suggestions at most.
const suggestTimeout = 2 * time.Second

// suggest asks the host for values that a shell can complete. Without a host there are none.
func (t *Target) suggest(
	ctx context.Context, ask func(context.Context, *Client) ([]string, error),
) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(ctx, suggestTimeout)
	defer cancel()
	client, err := t.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	values, err := ask(ctx, client)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}

// suggestFor completes the values of a flag.
func (t *Target) suggestFor(
	command *cobra.Command, flag string, ask func(context.Context, *Client) ([]string, error),
) {
	_ = command.RegisterFlagCompletionFunc(flag,
		func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return t.suggest(c.Context(), ask)
		})
}

// operation is what a fault can be armed for.
type operation struct {
	Surface   string `json:"surface"`
	Method    string `json:"method"`
	Path      string `json:"path"`
	Operation string `json:"operation"`
	Summary   string `json:"summary"`
}

func operations(ctx context.Context, client *Client) ([]operation, error) {
	var all list[operation]
	err := client.Get(ctx, "/operations", &all)
	return all.Items, err
}

// pathsOf returns the paths of the operations with a method.
func pathsOf(method string) func(context.Context, *Client) ([]string, error) {
	return func(ctx context.Context, client *Client) ([]string, error) {
		all, err := operations(ctx, client)
		var paths []string
		for _, o := range all {
			if method == "" || o.Method == strings.ToUpper(method) {
				paths = append(paths, o.Path+"\t"+o.Summary)
			}
		}
		return paths, err
	}
}

// slugs returns the codes of refusals, each with what it means.
func slugs(ctx context.Context, client *Client) ([]string, error) {
	var all list[struct {
		Slug    string `json:"slug"`
		Meaning string `json:"meaning"`
	}]
	err := client.Get(ctx, "/slugs", &all)
	names := make([]string, len(all.Items))
	for i, s := range all.Items {
		names[i] = s.Slug + "\t" + s.Meaning
	}
	slices.Sort(names)
	return names, err
}
