// The chart: p95 of both sides' handlers, in percent of the window, with the lines that matter.
const SHOWN_SECONDS = 150;
const STEP_SECONDS = 30;
const LONGEST_TICK = 5;

export class Latency {
  #canvas;
  #chart;
  #points = [];

  /** The newest p95 of the side that is worse, as part of the window. */
  now = 0;

  constructor(canvas) {
    this.#canvas = canvas;
    this.#chart = new Chart(canvas, {
      type: 'line',
      data: {
        datasets: [
          line('naive', { borderWidth: 7 }),
          line('exactly-once', { borderWidth: 3 }),
          line('100 %: the window ends', { borderWidth: 2 }),
          line('80 %: nearly used up', { borderWidth: 2, borderDash: [6, 4] }),
        ],
      },
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
            max: 0,
            title: { display: true, text: 'seconds ago' },
            ticks: { stepSize: STEP_SECONDS, maxRotation: 0, callback: value => -Math.round(value) },
          },
          y: { beginAtZero: true, suggestedMax: 140, title: { display: true, text: '% of the window' } },
        },
        plugins: { legend: { position: 'bottom', labels: { usePointStyle: true, pointStyle: 'line' } } },
      },
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#colour());
    this.#colour();
  }

  /** Begins with what other pages have been shown. */
  reset(points) {
    this.#points = points;
  }

  add(lab) {
    const [naive, exactlyOnce] = [lab.naive, lab.exactlyOnce].map(side => side.p95Millis / 1000 / lab.windowSeconds);
    this.now = Math.max(naive, exactlyOnce);
    this.#points.push({ second: lab.second, naive, exactlyOnce });
    this.#points = this.#points.filter(point => lab.second - point.second <= SHOWN_SECONDS);
    const [left, right, full, near] = this.#chart.data.datasets;
    left.data = this.#curve('naive', lab.second);
    right.data = this.#curve('exactlyOnce', lab.second);
    const steps = Math.ceil((lab.second - this.#points[0].second) / STEP_SECONDS);
    const from = -STEP_SECONDS * Math.max(1, steps);
    full.data = [{ x: from, y: 100 }, { x: 0, y: 100 }];
    near.data = [{ x: from, y: 80 }, { x: 0, y: 80 }];
    this.#chart.options.scales.x.min = from;
    this.#chart.update('none');
    this.#canvas.setAttribute('aria-label', `p95 of handlers is ${percent(naive)} of the window on the naive side,`
      + ` ${percent(exactlyOnce)} on the exactly-once side`);
  }

  // There is no line where no page was open, or no handler had ended.
  #curve(side, now) {
    const curve = [];
    let before = this.#points[0].second;
    for (const point of this.#points) {
      const isGap = point[side] === 0 || point.second - before > LONGEST_TICK;
      curve.push({ x: point.second - now, y: isGap ? NaN : point[side] * 100 });
      before = point.second;
    }
    return curve;
  }

  #colour() {
    const style = getComputedStyle(document.documentElement);
    const colour = name => style.getPropertyValue(name).trim();
    const sets = this.#chart.data.datasets;
    for (const [index, name] of ['--naive', '--ours', '--text', '--warn'].entries()) {
      sets[index].borderColor = colour(name);
    }
    const { x, y } = this.#chart.options.scales;
    for (const axis of [x, y]) {
      axis.grid = { color: colour('--line') };
      axis.ticks.color = colour('--soft');
      axis.title.color = colour('--soft');
    }
    this.#chart.options.plugins.legend.labels.color = colour('--text');
    this.#chart.update('none');
  }
}

function line(label, style) {
  return { label, data: [], pointRadius: 0, tension: 0.2, ...style };
}

function percent(part) {
  return `${Math.round(part * 100)} %`;
}
