package catalog

// Choice is an engine that a knowledge base may be created on.
type Choice struct {
	Name    string `json:"name"`
	Default bool   `json:"default" doc:"Where one goes that names no engine."`
}

// Choices lists the engines in their order.
func (c *Catalog) Choices() []Choice {
	choices := make([]Choice, len(c.listings))
	for i, l := range c.listings {
		name := l.engine.Name()
		choices[i] = Choice{
			Name:    name,
			Default: name == c.options.DefaultEngine || c.options.DefaultEngine == "" && i == 0,
		}
	}
	return choices
}
