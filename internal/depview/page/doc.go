// Package page shows a task graph as one HTML file that needs nothing else: no
// network, no installed program (spec/deps.md §6.6).
//
// Where nodes lie is computed here, by Graphviz, which is part of the program
// (internal/graphviz). Components of the graph that are built alike are laid out once,
// so the graph of a regular program is laid out at any size; what is not done within
// Budget opens as the neighbourhood of one task, which the browser lays out. Up to
// MaxSVG tasks the page holds the picture as SVG; larger ones are painted by the browser
// on a canvas.
//
// The same graph gives the same bytes, as long as the layout ends within its budget.
package page
