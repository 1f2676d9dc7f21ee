package capture

// column collects values without knowing how many will come. It grows in
// chunks, so that a long column is never copied while it grows, and is laid
// out flat once at the end.
type column[T any] struct {
	done [][]T
	cur  []T
	n    int
}

// Most sections of most captures are short, so chunks start small.
const (
	firstChunk = 64
	chunkLen   = 8192
)

func (c *column[T]) add(v T) {
	if len(c.cur) == cap(c.cur) {
		c.grow()
	}
	c.cur = append(c.cur, v)
}

func (c *column[T]) grow() {
	if c.cur != nil {
		c.n += len(c.cur)
		c.done = append(c.done, c.cur)
	}
	c.cur = make([]T, 0, min(max(firstChunk, c.n), chunkLen))
}

func (c *column[T]) len() int { return c.n + len(c.cur) }

// flat returns all values and lets go of the chunks.
func (c *column[T]) flat() []T {
	if c.len() == 0 {
		return nil
	}
	out := make([]T, 0, c.len())
	for i, d := range c.done {
		out = append(out, d...)
		c.done[i] = nil
	}
	out = append(out, c.cur...)
	*c = column[T]{}
	return out
}
