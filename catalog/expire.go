package catalog

// Expire makes the next reader ask the engines: a knowledge base was changed.
func (c *Catalog) Expire() {
	for _, l := range c.listings {
		l.expire()
	}
}
