package scene

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says what becomes of manual cases (spec/name-map.md §6.3).
type Mode string

// The modes of --manual.
const (
	Exclude Mode = "exclude"
	Include Mode = "include"
	Only    Mode = "only"
)

// ParseMode refuses words that are no mode.
func ParseMode(text string) (Mode, error) {
	if m := Mode(text); m == Exclude || m == Include || m == Only {
		return m, nil
	}
	return "", fmt.Errorf("--manual: %q: expected exclude, include or only", text)
}

// Selected is a case to run.
type Selected struct {
	Scene *Scene
	Case  *Case
}

// Label names the case in output: Class::case.
func (s Selected) Label() string { return s.Scene.Class + "::" + s.Case.Name }

// Selection is what a command line asks for.
type Selection struct {
	Platform string
	Cases    []string // selectors: "Foo" or "::Foo" in any class, "Class::Foo", "Class::" for all of a class; none: all
	Manual   Mode
}

// Select picks cases: by platform, then by selectors, then by mode. It is an error
// if a selector names nothing, or if nothing is left.
func Select(scenes []*Scene, want Selection) ([]Selected, error) {
	for _, text := range want.Cases {
		if err := known(scenes, text); err != nil {
			return nil, err
		}
	}
	return pick(scenes, want)
}

// pick is Select for selectors that exist somewhere.
func pick(scenes []*Scene, want Selection) ([]Selected, error) {
	var all []Selected // on the platform
	for _, s := range scenes {
		for i := range s.Cases {
			if slices.Contains(s.Cases[i].Platforms, want.Platform) {
				all = append(all, Selected{s, &s.Cases[i]})
			}
		}
	}
	var out []Selected
	manual := 0
	for _, c := range all {
		if len(want.Cases) > 0 && !slices.ContainsFunc(want.Cases, func(text string) bool { return matches(c, text) }) {
			continue
		}
		is := c.Case.Manual.applies(want.Platform)
		if is && want.Manual == Exclude || !is && want.Manual == Only {
			if is {
				manual++
			}
			continue
		}
		out = append(out, c)
	}
	if len(out) > 0 {
		return out, nil
	}
	hint := ""
	if manual > 0 {
		hint = fmt.Sprintf("; %d would match but are manual: add --manual include", manual)
	}
	return nil, fmt.Errorf("no case of platform %s is left to run%s", want.Platform, hint)
}

// split is the class and the case of a selector; empty is any.
func split(selector string) (class, name string) {
	if class, name, ok := strings.Cut(selector, "::"); ok {
		return class, name
	}
	return "", selector
}

func matches(c Selected, selector string) bool {
	class, name := split(selector)
	return (class == "" || class == c.Scene.Class) && (name == "" || name == c.Case.Name)
}

// known refuses a selector whose class or case exists nowhere.
func known(scenes []*Scene, selector string) error {
	class, name := split(selector)
	var classes []string
	found := false
	for _, s := range scenes {
		classes = append(classes, s.Class)
		if class == "" || class == s.Class {
			found = found || name == "" || slices.ContainsFunc(s.Cases, func(c Case) bool { return c.Name == name })
		}
	}
	if class != "" && !slices.Contains(classes, class) {
		return fmt.Errorf("--case: unknown class '%s'%s. Available: %s", class, near(class, classes), strings.Join(classes, ", "))
	}
	if !found {
		where, hint := class, ""
		if where == "" {
			where = "any class"
		}
		if slices.Contains(classes, name) {
			hint = fmt.Sprintf("; it is a class: --case %s::", name)
		}
		return fmt.Errorf("--case: case '%s' not found in %s%s", name, where, hint)
	}
	return nil
}

// near asks whether another word was meant.
func near(word string, words []string) string {
	best, least := "", max(2, len(word)/4)+1
	for _, w := range words {
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance is how many letters make one word the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
