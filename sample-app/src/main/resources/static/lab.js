// The page of the incident lab: shows what /events says, and sends what its buttons ask for.
import { Latency } from './latency.js';

const PRICE = 19.99;
const MOST_IN_HAND = 40;
const WORKERS = 4;
const MOST_CHARGES = 5;
const SIDES = ['naive', 'exactlyOnce'];
const LABELS = { naive: 'naive', exactlyOnce: 'exactly-once' };

const $ = selector => document.querySelector(selector);
const charts = {
  naive: new Latency('naive', 'naive', '--naive', $('#naive canvas')),
  exactlyOnce: new Latency('exactlyOnce', 'exactly-once', '--ours', $('#exactlyOnce canvas')),
};
let lastSeen = 0;
let announcedAt = -Infinity;

const events = new EventSource('events');
events.addEventListener('open', () => say('#connection', 'Connected.'));
events.addEventListener('error', () => {
  say('#connection', 'Not connected.');
  tell('quiet', 'The lab does not answer. Is it still running? This page continues by itself when the lab is back.');
});
events.addEventListener('history', event => {
  const points = JSON.parse(event.data);
  Object.values(charts).forEach(chart => chart.reset(points));
});
events.addEventListener('tick', event => show(JSON.parse(event.data)));

function show(lab) {
  const news = lab.happenings.filter(each => each.number > lastSeen);
  const isFirst = lastSeen === 0;
  lastSeen = Math.max(lastSeen, ...news.map(each => each.number));
  for (const name of SIDES) {
    showSide(name, lab, isFirst ? [] : news.filter(each => each.side === LABELS[name]));
  }
  showSwitches(lab);
  showEngine(lab);
  showLog(lab);
  Object.values(charts).forEach(chart => chart.add(lab));
  story(lab);
  announce(lab);
}

// --- the two sides

function showSide(name, lab, news) {
  const side = lab[name];
  const panel = document.getElementById(name);
  const duplicates = side.takings.charges - side.takings.orders;
  panel.querySelector('.duplicates').dataset.count = duplicates;
  value(panel, 'duplicates', duplicates);
  value(panel, 'orders', side.takings.orders);
  value(panel, 'shippedTwice', side.takings.shippedTwice);
  value(panel, 'queued', side.queued);
  value(panel, 'inHand', side.inHand.length);
  if (name === 'naive') {
    value(panel, 'money', Math.round(duplicates * PRICE).toLocaleString('en'));
  }
  showHands(panel.querySelector('.hands'), side.inHand, lab.windowSeconds);
  const charges = lab.happenings.filter(
    each => each.side === LABELS[name] && ['charged', 'duplicate', 'honoured'].includes(each.what));
  showCharges(panel.querySelector('.charges'), charges, news);
  if (news.some(each => each.what === 'duplicate')) {
    restart(panel, 'hit');
  }
}

function showHands(list, inHand, windowSeconds) {
  const shown = inHand.slice(0, MOST_IN_HAND).map(each => {
    const item = document.createElement('li');
    const part = each.seconds / windowSeconds;
    item.style.setProperty('--part', Math.min(1, part).toFixed(2));
    item.classList.toggle('over', part > 1);
    item.classList.toggle('twice', each.charges > 1);
    item.textContent = short(each.order) + (each.charges > 1 ? ` ×${each.charges}` : '');
    item.title = `${each.worker}, ${each.seconds.toFixed(1)} s`;
    return item;
  });
  list.replaceChildren(...shown);
}

function showCharges(list, charges, news) {
  const fresh = new Set(news.map(each => each.number));
  const old = new Map([...list.children].map(item => [Number(item.dataset.number), item]));
  const latest = charges.slice(-MOST_CHARGES).reverse();
  list.replaceChildren(...latest.map(each => {
    const known = old.get(each.number);
    if (known) {
      return known;
    }
    const item = document.createElement('li');
    item.dataset.number = each.number;
    item.classList.add(each.what);
    item.classList.toggle('new', fresh.has(each.number));
    item.textContent = {
      charged: `${short(each.about)} charged`,
      duplicate: `${short(each.about)} charged AGAIN`,
      honoured: `${short(each.about)} asked again: not charged`,
    }[each.what];
    return item;
  }));
}

// --- the library's own figures

function showEngine(lab) {
  const figures = { ...lab.engine, honoured: lab.exactlyOnce.takings.honoured };
  for (const cell of document.querySelectorAll('[data-engine]')) {
    const now = String(figures[cell.dataset.engine]);
    if (cell.textContent !== now) {
      cell.textContent = now;
      restart(cell.parentElement, 'new');
    }
  }
  const used = lab.engine.utilization;
  say('#utilization', used === 0 ? '–' : `${Math.round(used * 100)} %`);
  $('#utilization').parentElement.classList.toggle('alarm', used >= 0.8);
  say('#recommended', used === 0 ? '–' : `${Math.round(lab.engine.recommendedSeconds)} s`);
}

const LOG = {
  duplicate: each => `${each.side}: ${short(each.about)} is charged again`,
  honoured: each => `${each.side}: ${short(each.about)} is asked for again, its idempotency key is honoured, no money is taken`,
  killed: each => `${each.side}: ${each.about} is killed with SIGKILL; another starts in its place`,
  'taken-over': each => `${each.side}: ${plural(each.about, 'key')} of a worker that vanished taken over`,
  payout: each => `${each.side}: ${each.about} was paid by the worker that was killed; its key is parked, and waits for a decision`,
  'partner-slows': () => 'the partner becomes slower and slower',
  'partner-recovers': () => 'the partner is quick again',
  'replica-lags': each => each.about === '0' ? 'the replica catches up' : `the replica lags by ${each.about} s`,
  redelivered: each => `${plural(each.about, 'order')} delivered once more to both sides`,
  window: each => `the visibility timeout of both queues is ${each.about} s from now on`,
  'story-over': () => 'the story is told; the buttons are yours',
};

function showLog({ happenings, flowsSince }) {
  const log = $('#log');
  const newest = Number(log.firstElementChild?.dataset.number ?? 0);
  for (const each of happenings.filter(one => one.number > newest && LOG[one.what])) {
    const item = document.createElement('li');
    item.dataset.number = each.number;
    const time = document.createElement('time');
    time.textContent = `${Math.max(0, each.second - flowsSince).toFixed(1)} s `;
    item.append(time, LOG[each.what](each));
    log.prepend(item);
  }
  while (log.children.length > 100) {
    log.lastElementChild.remove();
  }
}

// --- what it means

function story(lab) {
  const left = lab.naive.takings.charges - lab.naive.takings.orders;
  const right = lab.exactlyOnce.takings.charges - lab.exactlyOnce.takings.orders;
  const used = Math.max(...Object.values(charts).map(chart => chart.now));
  const counts = `Duplicate charges: ${left} on the left, ${right} on the right.`;
  const timeout = `visibility timeout of ${lab.windowSeconds} s`;
  if (lab.chapter === 'STARTING') {
    const ready = lab.naive.ready.length + lab.exactlyOnce.ready.length;
    tell('quiet', ready < WORKERS
      ? `The workers are starting, each in a JVM of its own: ${ready} of ${WORKERS} are up.`
      : 'The workers are up, and warm up with orders that do not count.');
  } else if (lab.chapter === 'KILLED') {
    tell('bad', 'A worker of each side was killed while it charged cards. Left, its orders are charged again.'
      + ` Right, the other worker takes them over with the same idempotency keys. ${counts}`);
  } else if (lab.chapter === 'REDELIVERED') {
    tell('bad', 'SQS delivered every order once more. Left, orders in progress are charged again.'
      + ` Right, duplicates are suppressed, or wait for the first delivery. ${counts}`);
  } else if (lab.chapter === 'OVER' && !lab.isPartnerSlow && lab.replicaDelaySeconds === 0) {
    tell('good', `The partner answers in time again. ${counts} Now it is your turn: make trouble.`);
  } else if (used >= 1) {
    tell('bad', `p95 is beyond the ${timeout}: SQS redelivers orders that a worker is still handling. ${counts}`);
  } else if (used >= 0.8) {
    tell('warn', `p95 has used up ${percent(used)} of the ${timeout}. From 100 % on, the left side charges twice. ${counts}`);
  } else if (lab.isPartnerSlow) {
    tell('warn', `The partner becomes slower: p95 is at ${percent(used)} of the ${timeout}. ${counts}`);
  } else if (lab.replicaDelaySeconds > 0) {
    tell('warn', `The replica shows what was true ${lab.replicaDelaySeconds} s ago. Redeliver everything now. ${counts}`);
  } else if (lab.chapter === 'CALM') {
    tell('good', `All is well: the workers are ready, the partner answers within the ${timeout}, and every card is charged once.`);
  } else {
    tell('good', `The partner answers in time again. ${counts}`);
  }
}

// A screen reader hears what has changed now and then, not each charge.
function announce(lab) {
  if (lab.second - announcedAt < 10) {
    return;
  }
  announcedAt = lab.second;
  const of = side => side.takings.charges - side.takings.orders;
  const score = `Duplicate charges: naive ${of(lab.naive)}, exactly-once ${of(lab.exactlyOnce)}.`;
  const mood = { good: 'All is well.', warn: 'Trouble is ahead.', bad: 'Orders are delivered twice.' }[$('#story').dataset.mood];
  say('#score', [mood, score].filter(Boolean).join(' '));
}

// --- buttons

function showSwitches(lab) {
  $('[data-switch="partner"]').setAttribute('aria-pressed', lab.isPartnerSlow);
  $('[data-switch="replica"]').setAttribute('aria-pressed', lab.replicaDelaySeconds > 0);
  const select = $('#window');
  if (document.activeElement !== select) {
    select.value = String(lab.windowSeconds);
  }
}

const ANSWERS = {
  partner: on => on
    ? 'Watch the charts: p95 climbs beyond 100 %. Then the left side charges twice.'
    : 'The partner is quick again.',
  replica: on => on
    ? 'The replica lags by 10 s. Now redeliver everything.'
    : 'The replica catches up.',
  kill: () => 'Killed, one on each side. Left: its orders are charged again. Right: its keys are taken over, its idempotency keys honoured.',
  payout: () => 'Paid, and killed before that could be recorded. In some seconds the console shows the parked key: complete it, since the money is gone.',
  redeliver: () => 'All orders of the last minute are sent once more. Left: those in progress are charged again. Right: suppressed, or they wait.',
  window: seconds => `SQS applies ${seconds} s to messages received from now on; the library reads it again within a minute.`,
};

for (const button of document.querySelectorAll('[data-switch]')) {
  button.addEventListener('click', () => {
    const on = button.getAttribute('aria-pressed') !== 'true';
    ask(button.dataset.switch, { on }, on);
  });
}
for (const button of document.querySelectorAll('[data-action]')) {
  button.addEventListener('click', () => ask(button.dataset.action, {}));
}
$('#window').addEventListener('change', event => {
  const seconds = Number(event.target.value);
  ask('window', { seconds }, seconds);
});

async function ask(what, body, detail) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(what, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null);
  if (response?.ok) {
    say('#answer', ANSWERS[what](detail));
  } else if (response?.status === 409) {
    say('#answer', 'The last one’s replacement is still starting. Try again in a few seconds.');
  } else {
    say('#answer', 'The lab did not do that. Is it still running?');
  }
}

// --- small things

function tell(mood, text) {
  $('#story').dataset.mood = mood;
  say('#story', text);
}

function say(selector, text) {
  const element = $(selector);
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function value(panel, name, text) {
  panel.querySelector(`[data-value="${name}"]`).textContent = text;
}

function restart(element, animation) {
  element.classList.remove(animation);
  void element.offsetWidth;
  element.classList.add(animation);
}

function short(order) {
  return order.startsWith('order-') ? `#${Number(order.replace('order-', ''))}` : order;
}

function plural(count, noun) {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

function percent(part) {
  return `${Math.round(part * 100)} %`;
}
