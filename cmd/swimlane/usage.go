package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// atMostOne accepts one argument or none.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("too many arguments: found %d (%s), expected at most one %s", len(args), strings.Join(args, " "), what)
		}
		if len(args) == 1 && args[0] == "" {
			return fmt.Errorf("an empty argument, expected a %s; leave it out to take the newest capture below outputs/", what)
		}
		return nil
	}
}

// noArguments accepts none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: %s takes none", args[0], cmd.CommandPath())
	}
	return nil
}

// knownCommand refuses what is no command, with the commands there are.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", near[0])
	}
	if _, err := os.Stat(args[0]); err == nil {
		hint = fmt.Sprintf("; did you mean '%s convert %s'?", cmd.CommandPath(), args[0])
	}
	return fmt.Errorf("unknown command %q: expected %s%s", args[0], orList(known), hint)
}

// aloneVersion refuses arguments behind -v or --version: before a command the
// flag would be taken for --verbose, which stands behind it.
func aloneVersion(args []string) error {
	if len(args) > 1 && (args[0] == "-v" || args[0] == "--version") {
		return fmt.Errorf("%s prints the version and goes with nothing else: found %s; --verbose stands behind the command", args[0], strings.Join(args[1:], " "))
	}
	return nil
}

// flagError says what a flag expects, instead of how parsing it went wrong.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var without *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, "--"+f.Name)
			}
		})
		return fmt.Errorf("%w: expected %s", err, orList(known))
	case errors.As(err, &without):
		name, _ := pflag.UnquoteUsage(without.GetFlag())
		return fmt.Errorf("--%s lacks its value: expected --%s %s", without.GetFlag().Name, without.GetFlag().Name, name)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		expected := "a " + f.Value.Type()
		switch v := f.Value.(type) {
		case *choice:
			expected = orList(v.of)
		default:
			switch f.Value.Type() {
			case "bool":
				expected = "true or false"
			case "MICROS":
				expected = "a number of µs, such as 1500"
			case "N":
				expected = "a whole number"
			}
		}
		return fmt.Errorf("invalid value %q of --%s: expected %s", invalid.GetValue(), f.Name, expected)
	}
	return err
}

// noEmptyFlags refuses --flag "", which comes from an unset variable of a
// script and would else count as no flag at all.
func noEmptyFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			name, _ := pflag.UnquoteUsage(f)
			err = usageError{fmt.Errorf("--%s is empty: expected --%s %s", f.Name, f.Name, name)}
		}
	})
	return err
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// choice is the value of a flag with fixed values.
type choice struct {
	value string
	of    []string
	word  string // stands for the values in the usage, where they are too long
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string {
	if c.word != "" {
		return c.word
	}
	return strings.Join(c.of, "|")
}

func (c *choice) Set(v string) error {
	if !slices.Contains(c.of, v) {
		return errors.New("no such value")
	}
	c.value = v
	return nil
}

// fileValue is the value of a flag that names a file. Unlike pflag's strings it
// says so by its type, so the usage needs no quotes, which shells would show.
type fileValue string

func file(p *string) *fileValue { return (*fileValue)(p) }

func (f *fileValue) String() string     { return string(*f) }
func (f *fileValue) Set(v string) error { *f = fileValue(v); return nil }
func (f *fileValue) Type() string       { return "FILE" }

// choose adds a flag with fixed values, the first of which is the default.
func choose(cmd *cobra.Command, name, usage string, of ...string) *choice {
	return addChoice(cmd, name, usage, &choice{value: of[0], of: of})
}

// option adds a flag with fixed values, for which word stands, that has no default.
func option(cmd *cobra.Command, name, word, usage string, of ...string) *choice {
	return addChoice(cmd, name, usage, &choice{of: of, word: word})
}

func addChoice(cmd *cobra.Command, name, usage string, c *choice) *choice {
	cmd.Flags().Var(c, name, usage)
	cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.of, cobra.ShellCompDirectiveNoFileComp))
	return c
}
