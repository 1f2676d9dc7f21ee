// Package names turns the numbers of a capture into the names a person gave: it
// reads name maps, finds the one that belongs to a records file, takes names from
// the literals of a kernel_config.py or a SceneTest file, and makes the label text
// of tasks.
//
// What it promises:
//
//   - A name comes out exactly as it was written: any characters, control
//     characters included, and always valid UTF-8.
//   - A name is used only where its level fits. A map of a node (level 3) never
//     labels the kernels of a chip (spec/name-map.md §4.2).
//   - A Python file is read, never run. What cannot be understood without
//     running it is reported, not guessed.
//   - Any bytes end in a result or in an error that says where; never in a
//     panic, and never in an allocation sized by a number found in a file.
//
// Nothing is printed here. Errors and warnings are returned without the leading
// "Error: " and "Warning: ", which belong to the command line.
package names
