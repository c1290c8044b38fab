package scoring

import (
	"fmt"
	"testing"
)

func TestLinearDBSF(t *testing.T) {
	// Ten scores of 1 and one of 12: mean 2, deviation √((10·1 + 100)/10) = √11 = 3.316625.
	outlier := []Candidate{chunk("far", at(1, 12))}
	want := []string{"far 1.002519 1.000000 | 1 12.000 1.002519*1.000=1.002519"} // 0.5 + 10/(6·3.316625)
	for i := range 10 {
		id := fmt.Sprint(i)
		outlier = append(outlier, chunk(id, at(i+2, 1)))
		want = append(want, fmt.Sprintf("%s 0.449748 0.449748 | %d 1.000 0.449748*1.000=0.449748", id, i+2))
	}
	runFuse(t, []fuseCase{
		{
			name:   "from three deviations below the mean to three above",
			fusion: linearOver(DBSF), legs: pair(0.5, 0.5),
			candidates: []Candidate{
				chunk("a", at(1, 8), at(1, 0.9)),
				chunk("b", at(2, 6), beyond(0.1)),
				chunk("c", at(3, 4), at(2, 0.5)),
				chunk("d", beyond(3), beyond(unknown)),
			},
			// text: mean 6, deviation √((4 + 0 + 4)/2) = 2, so s is (s − 0)/12
			// vector: mean 0.7, deviation √(2·0.04/1) = 0.282843, so 0.9 is 0.5 + 0.2/1.697056 = 0.617851
			// d was returned by no leg
			want: lines(
				"a 0.642259 0.642259 | 1 8.000 0.666667*0.500=0.333333 | 1 0.900 0.617851*0.500=0.308926",
				"c 0.357741 0.357741 | 3 4.000 0.333333*0.500=0.166667 | 2 0.500 0.382149*0.500=0.191074",
				"b 0.250000 0.250000 | 2 6.000 0.500000*0.500=0.250000 | - 0.100 0.000000*0.500=0.000000",
			),
		},
		{
			name:   "equal scores, and a single one, are in the middle",
			fusion: linearOver(DBSF), legs: pair(0.5, 0.5),
			candidates: []Candidate{
				chunk("a", at(1, 3), at(1, 0.4)),
				chunk("b", at(2, 3), beyond(0.2)),
			},
			want: lines(
				"a 0.500000 0.500000 | 1 3.000 0.500000*0.500=0.250000 | 1 0.400 0.500000*0.500=0.250000",
				"b 0.250000 0.250000 | 2 3.000 0.500000*0.500=0.250000 | - 0.200 0.000000*0.500=0.000000",
			),
		},
		{
			name:   "beyond three deviations is not cut, but the score is",
			fusion: linearOver(DBSF), legs: []Leg{textLeg(1)}, candidates: outlier,
			want: lines(want...),
		},
	})
	for _, c := range []struct{ normalized, want float64 }{{-0.1, 0}, {0.3, 0.3}, {1.2, 1}} {
		if got := linearOver(DBSF).Similarity(c.normalized); got != c.want {
			t.Errorf("%v is shown as %v, want %v", c.normalized, got, c.want)
		}
	}
}
