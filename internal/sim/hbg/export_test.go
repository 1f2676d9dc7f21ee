package hbg

// Spin makes idle threads do every iteration instead of sleeping through those that
// are alike.
func (c *Config) Spin() { c.spin = true }
