// Package depgen makes the task graph deps.json from what dep_gen collected
// (spec/collector.md §10, spec/deps.md): the records are checked, each submit's
// dependencies are found once more on a tensor map from which nothing retires,
// and the file is written as it goes. A capture that is not whole, or a record
// that cannot be, gives no file.
package depgen
