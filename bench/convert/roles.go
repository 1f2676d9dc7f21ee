//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"swimlane/bench/gen"
)

// roles are what this program does when it runs itself: hidden flags, first on
// the command line. The yardsticks have to be processes of their own to be
// measured like the binary. The generator is one so that it can be stopped, and
// because the kernel counts the memory of a parent into the peak of a child it
// starts (see measure): this process has to stay small.
var roles = map[string]func([]string) error{
	"-yardstick":        yardstick(decodeValue),
	"-yardstick-tokens": yardstick(decodeTokens),
	"-generate":         generate,
}

// yardstick makes one pass of the standard decoder over each file.
func yardstick(pass func(*json.Decoder) error) func([]string) error {
	return func(files []string) error {
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			err = pass(json.NewDecoder(bufio.NewReader(f)))
			f.Close()
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
}

func decodeValue(d *json.Decoder) error {
	var v any
	return d.Decode(&v)
}

func decodeTokens(d *json.Decoder) error {
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// generate has the arguments directory, tasks, seed.
func generate(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("-generate: want a directory, a number of tasks and a seed")
	}
	tasks, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	return gen.Write(args[0], gen.Options{Tasks: tasks, Seed: seed, Deps: true})
}
