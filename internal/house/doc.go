// Package house holds the tests of the repository as a whole and no other code.
//
// They keep what the pages in docs say true of the tree: which package imports
// which, who may know what, how large a file may grow, and what the commands
// shown in README.md print.
package house
