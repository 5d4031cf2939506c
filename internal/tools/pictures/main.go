// Pictures draws the pictures of the documentation: for each file NAME.dot of a folder, in Graphviz's language, it
// writes NAME.svg beside it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-graphviz"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures FOLDER")
		os.Exit(2)
	}
	if err := draw(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func draw(ctx context.Context, folder string) error {
	sources, err := filepath.Glob(filepath.Join(folder, "*.dot"))
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("%s has no .dot file", folder)
	}
	layout, err := graphviz.New(ctx)
	if err != nil {
		return err
	}
	defer layout.Close()
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		picture, err := svg(ctx, layout, text)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if err := os.WriteFile(strings.TrimSuffix(source, ".dot")+".svg", picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func svg(ctx context.Context, layout *graphviz.Graphviz, text []byte) ([]byte, error) {
	graph, err := graphviz.ParseBytes(text)
	if err != nil {
		return nil, err
	}
	defer graph.Close()
	var picture bytes.Buffer
	err = layout.Render(ctx, graph, graphviz.SVG, &picture)
	return picture.Bytes(), err
}
