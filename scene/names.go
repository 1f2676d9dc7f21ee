package scene

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"swimlane/internal/jsonscan"
)

// Safe is a label as a part of file names: letters and digits of any script, dot,
// underscore and hyphen stay, and everything else becomes an underscore
// (spec/name-map.md §3).
func Safe(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, label)
}

// FileLabel names the case in file names: Class_case, made safe.
func (s Selected) FileLabel() string { return Safe(s.Scene.Class + "_" + s.Case.Name) }

// Prefix is the directory of a case's artifacts: outputs/<label>_<local time>
// below a root (spec/name-map.md §7).
func (s Selected) Prefix(root string, at time.Time) string {
	return filepath.Join(root, "outputs", s.FileLabel()+"_"+at.Local().Format("20060102_150405"))
}

// NameMapFile is the name of the case's name map.
func (s Selected) NameMapFile() string { return "name_map_" + s.FileLabel() + ".json" }

// NameMap is the level-2 name map of a callable, nil if it names nothing
// (spec/name-map.md §2.1).
func (c *Callable) NameMap() []byte {
	var b []byte
	b = append(b, "{\n  \"level\": 2,\n  \"orchestrator_name\": "...)
	named := c.Orchestration.Name != ""
	if named {
		b = jsonscan.AppendString(b, c.Orchestration.Name)
	} else {
		b = append(b, "null"...)
	}
	sep := ",\n  \"callable_id_to_name\": {\n    "
	for _, k := range c.Incores {
		if k.Name == "" {
			continue
		}
		named = true
		b = append(b, sep...)
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(k.FuncID), 10)
		b = append(b, `": `...)
		b = jsonscan.AppendString(b, k.Name)
		sep = ",\n    "
	}
	if sep == ",\n    " {
		b = append(b, "\n  }"...)
	}
	if !named {
		return nil
	}
	return append(b, "\n}"...)
}
