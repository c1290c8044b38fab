package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// growing are the presets of the charts: technical, general and conversational
// cost what script_score does.
var growing = []string{"script_score", "balanced", "linear", "rrf", "text", "vector"}

// chart is figures against the number of chunks, on logarithmic axes.
type chart struct {
	file, title, y string
	lines          []line
}

// line is one unit of the benchmarks Growth/ENGINE/SIZE.
type line struct{ label, engine, unit string }

func charts() []chart {
	latency := func(engine string) chart {
		c := chart{file: "latency-" + engine + ".svg", title: "Latency over HTTP: " + engine, y: "p50, ms"}
		for _, preset := range growing {
			c.lines = append(c.lines, line{preset, engine, preset + "-p50-ms"})
		}
		return c
	}
	return []chart{
		latency("embedded"),
		latency("elasticsearch"),
		{"memory.svg", "Memory and storage", "MB", []line{
			{"embedded: the gateway's memory", "embedded", "gateway-MB"},
			{"embedded: stored", "embedded", "stored-MB"},
			{"elasticsearch: the gateway's memory", "elasticsearch", "gateway-MB"},
			{"elasticsearch: stored", "elasticsearch", "stored-MB"},
		}},
		{"build.svg", "Writing all chunks, vectors given; starting with them", "s", []line{
			{"embedded", "embedded", "build-s"},
			{"elasticsearch", "elasticsearch", "build-s"},
			{"embedded: start to first answer", "embedded", "load-s"},
		}},
	}
}

// draw writes the charts that there are figures for.
func (r *results) draw(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a folder of the documentation
		return err
	}
	for _, c := range charts() {
		if err := r.drawOne(c, filepath.Join(folder, c.file)); err != nil {
			return err
		}
	}
	return nil
}

func (r *results) drawOne(c chart, path string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, "chunks", c.y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	var lines []any
	for _, l := range c.lines {
		if points := r.points(l); len(points) > 1 {
			lines = append(lines, l.label, points)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return err
	}
	p.X.Max *= 1.5 // room for the label of the last tick
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, path)
}

// points gives a line's figures by size, in ascending order.
func (r *results) points(l line) plotter.XYs {
	var points plotter.XYs
	for _, size := range r.sizes(l.engine) {
		if value := r.figures["Growth/"+l.engine+"/"+strconv.Itoa(size)][l.unit]; value > 0 {
			points = append(points, plotter.XY{X: float64(size), Y: value})
		}
	}
	return points
}

// last is the largest size measured on an engine, 0 when there is none.
func (r *results) last(engine string) int {
	if sizes := r.sizes(engine); len(sizes) > 0 {
		return sizes[len(sizes)-1]
	}
	return 0
}

// sizes are those measured on an engine.
func (r *results) sizes(engine string) []int {
	var sizes []int
	for name := range r.figures {
		if rest, ok := strings.CutPrefix(name, "Growth/"+engine+"/"); ok {
			if size, err := strconv.Atoi(rest); err == nil {
				sizes = append(sizes, size)
			}
		}
	}
	slices.Sort(sizes)
	return sizes
}
