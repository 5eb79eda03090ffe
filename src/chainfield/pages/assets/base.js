'use strict';
// What all pages share: texts are escaped, spans drawn above and below words, charts drawn at the width they have.
const $ = (s, e = document) => e.querySelector(s), $$ = (s, e = document) => [...e.querySelectorAll(s)];
const esc = s => String(s).replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const pct = (v, d = 1) => (100 * v).toFixed(d), fmt = n => Number(n).toLocaleString('en-GB');
const sgn = (v, d = 2) => (v < 0 ? '−' : '+') + Math.abs(v).toFixed(d);
const plural = (n, word) => `${fmt(n)} ${word}${n === 1 ? '' : 's'}`;
const prob = p => p < 0.001 ? '<0.001' : p.toFixed(3);

// Colours go to types in the order in which they are shown; after eight, the line changes its style. The name is always
// printed: colour only helps.
const TYPES = [];
function hue(type) {
  if (type === '' || type === 'O') return 'c0';
  let i = TYPES.indexOf(type);
  if (i < 0) i = TYPES.push(type) - 1;
  return `c${i % 8 + 1}${i % 24 >= 16 ? ' dotted' : i % 24 >= 8 ? ' dashed' : ''}`;
}
const typeOf = label => /^[BIESLU]-./.test(label) ? label.slice(2) : label;
const canvas = document.createElement('canvas').getContext('2d');
const family = name => getComputedStyle(document.documentElement).getPropertyValue(name);
function width(text, font) { canvas.font = font; return canvas.measureText(text).width; }

// A sentence: words in the middle, spans above and below, aligned to the words.
// spans: {type, start, end, p?, style?: 'quiet' | 'none', text?}; options: live(t), names {up, down}, extra(t), mark(t), size of the type
function sentence(words, up, down, options = {}) {
  const n = words.length, bars = words.map(() => ''), pad = new Array(n).fill(0), place = words.map(() => new Set());
  const hold = new Array(n).fill(false), rows = [['up', up], ['down', down]].filter(row => row[1]);
  const small = `600 11px ${family('--sans')}`, big = `${options.size || 17}px ${family('--serif')}`;
  for (const [side, spans] of rows) for (const s of spans) {
    const label = (s.text ?? s.type) + (s.p != null ? ' ' + s.p.toFixed(2) : '');
    const text = words.slice(s.start, s.end).reduce((sum, w) => sum + width(w, big) + 5.8, 0);
    const needed = width(label, small) * 1.04 + 16;
    // Short spans do not break over lines; a span narrower than its label gets room, so that labels never collide.
    if (text < 220) for (let t = s.start; t < s.end - 1; t++) hold[t] = true;
    if (needed > text) pad[s.end - 1] = Math.max(pad[s.end - 1], needed - text);
    for (let t = s.start; t < s.end; t++) {
      place[t].add(side === 'up' ? 'above' : 'below');
      const name = t === s.start ? `<i>${esc(s.text ?? s.type)}${s.p != null ? `<b>${s.p.toFixed(2)}</b>` : ''}</i>` : '';
      const ends = (t === s.start ? ' first' : '') + (t === s.end - 1 ? ' last' : '');
      bars[t] += `<span class="bar ${side} ${s.style === 'none' ? 'none' : hue(s.type)} ${s.style || ''}${ends}" aria-hidden="true">${name}</span>`;
    }
  }
  const breaks = t => t && options.breaks ? options.breaks(t) : 0; // lines of the text that end before a word
  for (let t = 1; t < n; t++) if (breaks(t)) hold[t - 1] = false;
  const live = t => Boolean(options.live && options.live(t)), first = words.findIndex((_, t) => live(t));
  const told = s => `${words.slice(s.start, s.end).join(' ')}: ${s.text ?? s.type}`;
  const spoken = rows.map(([side, spans]) => `${(options.names || {})[side] || side}: ${spans.map(told).join(', ') || 'none'}.`).join(' ');
  const parts = words.map((word, t) => {
    const open = hold[t] && !hold[t - 1] ? '<span class="hold">' : '', close = !hold[t] && hold[t - 1] ? '</span>' : '';
    const act = live(t) ? ` role="button" aria-expanded="false" tabindex="${t === first ? 0 : -1}"` : '';
    const room = pad[t] ? ` style="padding-right:calc(.17em + ${Math.ceil(pad[t])}px)"` : '';
    const mark = options.mark ? options.mark(t) : '', lines = breaks(t) ? `<span class="br${breaks(t) > 1 ? ' wide' : ''}"></span>` : '';
    return `${lines}${open}<span class="tok ${[...place[t]].join(' ')}${live(t) ? ' live' : ''} ${mark}" data-t="${t}"${act}${room}>${bars[t]}<span class="w">${esc(word)}</span>${options.extra ? options.extra(t) : ''}</span>${close}`;
  });
  return `<div class="sent" role="group" aria-label="${esc(spoken)}">${parts.join('')}</div>`;
}
// One tab stop for a sentence; arrows move between its words, Enter opens.
document.addEventListener('keydown', event => {
  const word = event.target.closest && event.target.closest('.tok.live');
  if (!word) return;
  const all = $$('.tok.live', word.closest('.sent')), at = all.indexOf(word);
  const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1}[event.key];
  if (to !== undefined) {
    if (all[to]) { word.tabIndex = -1; all[to].tabIndex = 0; all[to].focus(); }
    event.preventDefault();
  } else if (event.key === 'Enter' || event.key === ' ') { word.click(); event.preventDefault(); }
});

// Names of the built-in text features in words.
const WHERE = {'-1': 'previous word', '+1': 'next word', '-2': '2nd word before', '+2': '2nd word after'};
const NAMES = {word: 'word', lower: 'word, any case', shape: 'shape', 'short-shape': 'short shape', digits: 'word, digits as 0'};
const FLAGS = {'has-upper': 'has a capital', 'is-title': 'is capitalised', 'is-upper': 'is all capitals', 'has-digit': 'has a digit',
  'has-hyphen': 'has a hyphen', 'is-digits': 'is a number', 'is-punctuation': 'is punctuation'};
function inWords(feature) {
  let m;
  if (feature === 'bias') return 'how common the label is';
  if ((m = feature.match(/^transition from (.+)$/s))) return `follows <code>${esc(m[1])}</code>`;
  if ((m = feature.match(/^transition to (.+)$/s))) return `precedes <code>${esc(m[1])}</code>`;
  if ((m = feature.match(/^([a-z-]+)(?:\[([+-]\d)\])?=1$/)) && FLAGS[m[1]]) return (m[2] ? WHERE[m[2]] + ' ' : '') + FLAGS[m[1]];
  if ((m = feature.match(/^(prefix|suffix)(\d)(?:\[([+-]\d)\])?=(.*)$/s)))
    return `${m[1] === 'prefix' ? 'first' : 'last'} ${m[2] === '1' ? 'letter' : m[2] + ' letters'}${m[3] ? ' of ' + WHERE[m[3]] : ''} <code>${esc(m[4])}</code>`;
  if ((m = feature.match(/^([a-z-]+)(?:\[([+-]\d)\])?=(.*)$/s)) && NAMES[m[1]]) {
    const value = /^_B[+-]\d$/.test(m[3]) ? (m[3][2] === '-' ? '(start)' : '(end)') : m[3];
    const what = !m[2] ? NAMES[m[1]] : m[1] === 'word' || m[1] === 'lower' ? WHERE[m[2]] + (m[1] === 'lower' ? ', any case' : '') : `${NAMES[m[1]]} of ${WHERE[m[2]]}`;
    return `${what} <code>${esc(value)}</code>`;
  }
  return `<code>${esc(feature)}</code>`;
}
// rows: [label, probability]
function bars(rows) {
  return `<div class="bars">${rows.map(([label, p]) => `<span>${esc(label)}</span><span class="track ${hue(typeOf(label))}"><i style="width:${Math.max(100 * p, .6)}%"></i></span><span class="num">${prob(p)}</span>`).join('')}</div>`;
}
// rows: [feature, amount, note?]; an amount of null is what the rules decide
function feats(rows) {
  const top = Math.max(1, ...rows.filter(r => r[1] != null).map(r => Math.abs(r[1])));
  return `<div class="feats">${rows.map(([name, d, note]) => {
    const bar = d == null ? '' : `<i class="${d > 0 ? 'pos' : 'neg'}" style="${d > 0 ? 'left' : 'right'}:50%;width:${50 * Math.abs(d) / top}%"></i>`;
    return `<span title="${esc(name)}">${inWords(name)}</span><span class="axis">${bar}</span><span class="num">${d == null ? '<span class="muted">rule</span>' : sgn(d)}${note ? ` <span class="muted">${esc(note)}</span>` : ''}</span>`;
  }).join('')}</div>`;
}
// A chart is drawn anew when its width changes.
function chart(element, height, label, draw) {
  const go = () => {
    const w = Math.round(element.clientWidth);
    if (!w || w === element.drawn) return;
    element.drawn = w;
    const h = typeof height === 'function' ? height(w) : height;
    element.innerHTML = `<svg width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img" aria-label="${esc(label)}">${draw(w, h)}</svg>`;
  };
  new ResizeObserver(go).observe(element);
  go();
  return () => { element.drawn = 0; go(); };
}
const scale = (a, b, c, d) => v => b === a ? (c + d) / 2 : c + (v - a) / (b - a) * (d - c);
const line = points => 'M' + points.map(p => p.map(v => v.toFixed(1)).join(',')).join('L');
const axisY = (y, ticks, l, r, name = v => v) => ticks.map(v => `<line class="grid" x1="${l}" x2="${r}" y1="${y(v)}" y2="${y(v)}"/><text x="${l - 8}" y="${y(v) + 4}" text-anchor="end">${name(v)}</text>`).join('');
// Round numbers that cover a range.
function ticks(low, high, n = 4) {
  const step0 = (high - low || 1) / n, mag = 10 ** Math.floor(Math.log10(step0));
  const step = [1, 2, 2.5, 5, 10].map(k => k * mag).find(s => s >= step0 - 1e-12), out = [];
  for (let v = Math.floor(low / step + 1e-9) * step; v < high + step * .999; v += step) out.push(+v.toPrecision(10));
  return out;
}
function save(name, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type: 'text/plain'}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
