package tune

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/optimize"

	"github.com/hybridge-search/hybridge/fault"
)

// Method names a way to search the numbers of a space.
type Method string

// The methods.
const (
	Grid Method = "grid" // even steps of every range, each with each
	// Random draws evenly (Bergstra and Bengio, "Random Search for Hyper-Parameter Optimization", JMLR 2012).
	Random Method = "random"
	// CMAES climbs (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016), again and again until the trials are
	// used up.
	CMAES Method = "cmaes"
)

// method searches the unit cube of some dimensions, at least one, by a number of trials. Which of both it has depends
// on whether what it tries next follows from what it found.
type method struct {
	points func(dimensions, trials int, random *rand.Rand) [][]float64
	adapt  func(c *climb) error
}

var methods = map[Method]method{
	Grid:   {points: gridPoints},
	Random: {points: randomPoints},
	CMAES:  {adapt: cmaes},
}

// Methods are the names of all.
func Methods() []string {
	var all []string
	for m := range maps.Keys(methods) {
		all = append(all, string(m))
	}
	slices.Sort(all)
	return all
}

// Validate refuses a name that no method has.
func (m Method) Validate() error {
	if _, is := methods[m]; !is {
		return fault.Invalid("method", string(m), strings.Join(Methods(), ", "))
	}
	return nil
}

// gridPoints returns the finest grid that the trials suffice for, at least two steps, edges included.
func gridPoints(dimensions, trials int, _ *rand.Rand) [][]float64 {
	steps := max(2, int(math.Floor(math.Pow(float64(trials), 1/float64(dimensions))+1e-9)))
	all := [][]float64{{}}
	for range dimensions {
		var more [][]float64
		for _, point := range all {
			for i := range steps {
				more = append(more, append(slices.Clone(point), float64(i)/float64(steps-1)))
			}
		}
		all = more[:min(len(more), trials)]
	}
	return all
}

func randomPoints(dimensions, trials int, random *rand.Rand) [][]float64 {
	all := make([][]float64, trials)
	for i := range all {
		all[i] = make([]float64, dimensions)
		for j := range all[i] {
			all[i][j] = random.Float64()
		}
	}
	return all
}

// climb is a search that looks at what it found.
type climb struct {
	ctx        context.Context
	dimensions int
	trials     int
	random     *rand.Rand
	try        func(places []float64) (float64, error) // the higher the better
}

var errEnough = errors.New("all trials are used up")

// stepSize is the first standard deviation, of a cube of side 1.
const stepSize = 0.3

// cmaes begins in the middle, then at random places.
func cmaes(c *climb) error {
	first := slices.Repeat([]float64{0.5}, c.dimensions)
	for left := c.trials; left > 0; {
		var failed error
		problem := optimize.Problem{
			Func: func(x []float64) float64 {
				if failed != nil || left <= 0 {
					return math.Inf(1)
				}
				left--
				value, err := c.try(reflected(x))
				if failed = err; err != nil {
					return math.Inf(1)
				}
				return -value
			},
			Status: func() (optimize.Status, error) {
				switch {
				case failed != nil:
					return optimize.Failure, failed
				case c.ctx.Err() != nil:
					return optimize.Failure, c.ctx.Err()
				case left <= 0:
					return optimize.Failure, errEnough
				}
				return optimize.NotTerminated, nil
			},
		}
		way := &optimize.CmaEsChol{InitStepSize: stepSize, StopLogDet: float64(c.dimensions) * math.Log(1e-8), Src: c.random}
		settings := &optimize.Settings{Converger: optimize.NeverTerminate{}}
		if _, err := optimize.Minimize(problem, first, settings, way); err != nil && !errors.Is(err, errEnough) {
			return err
		}
		for i := range first {
			first[i] = c.random.Float64()
		}
	}
	return nil
}

// reflected brings places into the unit cube, as mirrors at its sides would.
func reflected(x []float64) []float64 {
	within := make([]float64, len(x))
	for i, v := range x {
		v = math.Mod(math.Abs(v), 2)
		if v > 1 {
			v = 2 - v
		}
		within[i] = v
	}
	return within
}
