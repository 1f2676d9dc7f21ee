package jsonscan

// NewSize is New with another first window.
var NewSize = newSize
