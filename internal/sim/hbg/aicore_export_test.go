package hbg

// Spin makes idle schedulers do every iteration instead of sleeping through those that
// are alike.
func (c *AicoreConfig) Spin() { c.spin = true }
