package payments

//go:generate ../internal/tools/run pictures ../docs/pictures
