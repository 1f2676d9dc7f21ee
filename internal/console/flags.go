package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AtMostOne accepts one argument or none; otherwise says what to do instead of
// giving an empty one.
func AtMostOne(what, otherwise string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("too many arguments: found %d (%s), expected at most one %s", len(args), strings.Join(args, " "), what)
		}
		if len(args) == 1 && args[0] == "" {
			return fmt.Errorf("an empty argument, expected a %s; %s", what, otherwise)
		}
		return nil
	}
}

// NoArguments accepts none.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: %s takes none", args[0], cmd.CommandPath())
	}
	return nil
}

// First is the first argument, "" if there is none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
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
		return fmt.Errorf("%w: expected %s", err, OrList(known))
	case errors.As(err, &without):
		name, _ := pflag.UnquoteUsage(without.GetFlag())
		return fmt.Errorf("--%s lacks its value: expected --%s %s", without.GetFlag().Name, without.GetFlag().Name, name)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		expected := "a " + f.Value.Type()
		switch v := f.Value.(type) {
		case *Choice:
			expected = OrList(v.Of)
		default:
			switch f.Value.Type() {
			case "bool":
				expected = "true or false"
			case "MICROS":
				expected = "a number of µs, such as 1500"
			case "PERCENT":
				expected = "a number of percent, such as 5"
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
			err = Usagef("--%s is empty: expected --%s %s", f.Name, f.Name, name)
		}
	})
	return err
}

// Choice is the value of a flag with fixed values.
type Choice struct {
	Value string
	Of    []string
	word  string // stands for the values in the usage, where they are too long
}

func (c *Choice) String() string { return c.Value }

// Type is what the usage shows for the value.
func (c *Choice) Type() string {
	if c.word != "" {
		return c.word
	}
	return strings.Join(c.Of, "|")
}

// Set accepts one of the values.
func (c *Choice) Set(v string) error {
	if !slices.Contains(c.Of, v) {
		return errors.New("no such value")
	}
	c.Value = v
	return nil
}

// Choose adds a flag with fixed values, the first of which is the default.
func Choose(cmd *cobra.Command, name, usage string, of ...string) *Choice {
	return addChoice(cmd, name, "", usage, &Choice{Value: of[0], Of: of})
}

// Option adds a flag with fixed values, for which word stands, that has no default.
func Option(cmd *cobra.Command, name, word, usage string, of ...string) *Choice {
	return OptionP(cmd, name, "", word, usage, of...)
}

// OptionP is Option with a flag of one letter too.
func OptionP(cmd *cobra.Command, name, letter, word, usage string, of ...string) *Choice {
	return addChoice(cmd, name, letter, usage, &Choice{Of: of, word: word})
}

func addChoice(cmd *cobra.Command, name, letter, usage string, c *Choice) *Choice {
	cmd.Flags().VarP(c, name, letter, usage)
	cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.Of, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// fileValue is the value of a flag that names a file. Unlike pflag's strings it
// says so by its type, so the usage needs no quotes, which shells would show.
type fileValue string

// File is the value of a flag that names a file.
func File(p *string) pflag.Value { return (*fileValue)(p) }

func (f *fileValue) String() string     { return string(*f) }
func (f *fileValue) Set(v string) error { *f = fileValue(v); return nil }
func (f *fileValue) Type() string       { return "FILE" }

// worded is a flag's value whose kind has a name of its own in help texts.
// Quoting the word in the usage would show in the shells' completions.
type worded struct {
	pflag.Value
	word string
}

func (w worded) Type() string { return w.word }

// Word gives the value of a flag a name in help texts, and leaves the default
// out of them. A wrong value of MICROS or N is told what these are.
func Word(cmd *cobra.Command, name, word string) {
	flag := cmd.Flags().Lookup(name)
	flag.Value, flag.DefValue = worded{flag.Value, word}, ""
}
