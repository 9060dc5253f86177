// A chart: p95 of one side's handlers, in percent of the visibility timeout.
const SHOWN_SECONDS = 120;
const STEP_SECONDS = 30;
const LONGEST_TICK = 5;
// The only lines besides the curve: the grid, which is drawn beneath it.
const LIMITS = { 80: '--warn', 100: '--text' };

export class Latency {
  #side;
  #label;
  #colour;
  #canvas;
  #chart;
  #points = [];

  /** The newest p95, as part of the visibility timeout. */
  now = 0;

  constructor(side, label, colour, canvas) {
    this.#side = side;
    this.#label = label;
    this.#colour = colour;
    this.#canvas = canvas;
    this.#chart = new Chart(canvas, {
      type: 'line',
      data: { datasets: [{ data: [], pointRadius: 0, tension: 0.2, borderWidth: 3 }] },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        parsing: false,
        normalized: true,
        events: [],
        scales: {
          x: {
            type: 'linear',
            min: -STEP_SECONDS,
            max: 0,
            ticks: { stepSize: STEP_SECONDS, maxRotation: 0, callback: ago },
          },
          y: {
            beginAtZero: true,
            suggestedMax: 200,
            ticks: { autoSkip: false, callback: percent => `${percent} %` },
            afterBuildTicks: axis => {
              axis.ticks = [0, ...Object.keys(LIMITS), 200].map(value => ({ value: Number(value) }));
            },
            border: { dash: ({ tick }) => tick?.value === 80 ? [6, 4] : [] },
          },
        },
        plugins: { legend: { display: false } },
      },
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#paint());
    this.#paint();
  }

  /** Begins with what other pages have been shown. */
  reset(points) {
    this.#points = points.map(point => ({ second: point.second, part: point[this.#side] }));
  }

  add(lab) {
    this.now = lab[this.#side].p95Millis / 1000 / lab.windowSeconds;
    this.#points.push({ second: lab.second, part: this.now });
    this.#points = this.#points.filter(point => lab.second - point.second <= SHOWN_SECONDS);
    const begin = this.#points.find(point => point.part > 0)?.second ?? lab.second;
    const steps = Math.ceil((lab.second - begin) / STEP_SECONDS);
    this.#chart.data.datasets[0].data = this.#curve(lab.second);
    this.#chart.options.scales.x.min = -STEP_SECONDS * Math.max(1, steps);
    this.#chart.update('none');
    this.#canvas.setAttribute('aria-label', this.now === 0
      ? `No handler of the ${this.#label} side has ended lately`
      : `p95 of handlers is ${Math.round(this.now * 100)} % of the visibility timeout on the ${this.#label} side`);
  }

  // There is no line where no page was open, or no handler had ended.
  #curve(now) {
    const curve = [];
    let before = this.#points[0].second;
    for (const point of this.#points) {
      const isGap = point.part === 0 || point.second - before > LONGEST_TICK;
      curve.push({ x: point.second - now, y: isGap ? NaN : point.part * 100 });
      before = point.second;
    }
    return curve;
  }

  #paint() {
    this.#chart.data.datasets[0].borderColor = colour(this.#colour);
    const { x, y } = this.#chart.options.scales;
    for (const axis of [x, y]) {
      axis.grid = { color: ({ tick }) => colour(axis === y && LIMITS[tick?.value] || '--line') };
      axis.ticks.color = colour('--soft');
    }
    this.#chart.update('none');
  }
}

function ago(second) {
  return second === 0 ? 'now' : `${-second} s ago`;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
