package main

import (
	"errors"
	"io"

	"swimlane/internal/console"
	"swimlane/internal/depview"
)

// page writes the view as a page, closes out, and says so on words.
func (o *depsOptions) page(_ *console.Env, _ *depview.View, out *console.Output, _ io.Writer) error {
	return out.Close(errors.New("pages are not written by this version; leave --format html out"))
}
