const D = JSON.parse($('#data').textContent), QUERY = new URLSearchParams(location.search);
const S = {models: [], a: null, b: null, text: '', pins: new Map(), from: null, to: null, against: '', done: [], format: 'conll'};
let base = null, now = null, other = null, turn = 0, failed = '';
const LONG = 4000; // characters: from here on, spans alone
const name = m => S.models.filter(o => o.name === m.name).length > 1 ? `${m.name} ${m.version}` : m.name;
const nice = label => String(label).replace(/_/g, ' ');
const said = label => label === 'O' ? 'none' : nice(label);
const tag = label => `<span class="tag ${hue(typeOf(String(label)))}">${esc(said(label))}</span>`;
const ask = (m, more) => backend.tag({model: m.name, version: m.version, text: S.text, ...more});
const given = () => [...S.pins].map(([position, label]) => ({position, label}));
const units = text => { const at = [0]; for (const c of text) at.push(at.at(-1) + c.length); return at; }; // characters → UTF-16

// ---- asking: the newest question counts, answers to older ones are dropped
async function update(focus) {
  const mine = ++turn, started = performance.now();
  S.text = $('#text').value;
  if (!S.a || !S.text.trim()) { now = base = other = null; draw(); return; }
  try {
    const long = S.text.length > LONG, wanted = {with_tokens: true, marginals: !long, n_best: long ? 0 : 5, alternatives: long ? 0 : 4};
    if (S.a.task === 'classifying') {
      const found = await backend.classify({model: S.a.name, version: S.a.version, text: S.text});
      if (mine === turn) { now = {classes: found}; failed = ''; draw(); }
      return;
    }
    const asked = [S.pins.size ? ask(S.a, {...wanted, given: given()}) : ask(S.a, wanted)];
    asked.push(S.pins.size && base && base.text === S.text && base.model === S.a ? base : S.pins.size ? ask(S.a, wanted) : null);
    asked.push(S.b ? ask(S.b, {with_tokens: true}) : null);
    const [found, free, second] = await Promise.all(asked);
    if (mine !== turn) return;
    now = found;
    base = Object.assign(free || found, {text: S.text, model: S.a});
    other = second;
    now.ms = performance.now() - started;
    failed = '';
  } catch (problem) {
    if (mine !== turn) return;
    if (problem.status === 422 && S.pins.size) return lostPins(problem, focus);
    if (problem.status === undefined) throw problem;
    failed = problem.error;
    if (problem.status === 401) askKey();
  }
  const n = now && now.tokens ? now.tokens.length : 0;
  if (S.from === null || S.from >= n) choose(doubted());
  S.to = Math.min(S.to, n - 1);
  draw(focus);
}
// Two forced labels may break the rules: the newest stays, if it can.
function lostPins(problem, focus) {
  const all = [...S.pins], newest = all.slice(-(S.fresh || 1));
  S.pins = all.length > newest.length ? new Map(newest) : new Map();
  S.told = S.pins.size ? 'Earlier labels did not go with this one; they were released.' : problem.error;
  return update(focus);
}
function doubted() {
  const p = now && now.tokens ? now.tokens.map(t => t.probability) : [];
  return p.length ? p.indexOf(Math.min(...p)) : null;
}
function choose(from, to = from) { S.from = from; S.to = to; S.against = ''; why.key = ''; }

// ---- drawing
function draw(focus) {
  $('#problem').hidden = !failed;
  $('#problem').textContent = failed;
  if (now && now.classes) return drawClasses();
  $('#alternatives').hidden = !now || !now.n_best;
  if (!now || !now.tokens || !now.tokens.length) {
    $('#out').innerHTML = `<p class="muted">${S.text.trim() ? 'There is no word in this text.' : 'Write something above, and see what the model finds.'}</p>`;
    $('#status').innerHTML = $('#changes').innerHTML = $('#best').innerHTML = $('#inspector').innerHTML = '';
    $('#compared').hidden = true;
    return;
  }
  TYPES.length = 0;
  const words = now.tokens.map(t => t.text), low = tokenSpans(now), up = other ? tokenSpans(other) : null;
  [...tokenSpans(base), ...(up || []), ...low].sort((x, y) => x.start - y.start).forEach(s => hue(s.type));
  (now.n_best || []).forEach(b => b.labels.forEach(l => hue(typeOf(String(l)))));
  const lo = Math.min(S.from, S.to), hi = Math.max(S.from, S.to), changed = t => now.tokens[t].label !== base.tokens[t].label && !S.pins.has(t);
  $('.result').classList.toggle('plain', !now.marginals);
  $('#out').innerHTML = (up ? `<p class="small muted" style="margin-bottom:6px">above: ${esc(name(S.b))}, below: ${esc(name(S.a))}${S.pins.size ? ' with your labels' : ''}</p>` : '')
    + sentence(words, up, low, {size: 21, live: () => true, names: {up: S.b ? name(S.b) : '', down: name(S.a)}, breaks: lineBreaks(now), mark: t => (t >= lo && t <= hi ? 'chosen ' : '') + (changed(t) ? 'changed' : ''),
      extra: t => mini(t) + (S.pins.has(t) ? '<span class="pin"><span class="spoken">, forced</span></span>' : '')});
  $$('#out .tok').forEach((word, t) => { word.tabIndex = t === S.to ? 0 : -1; word.setAttribute('aria-expanded', String(t >= lo && t <= hi)); });
  if (focus) $$('#out .tok')[S.to]?.focus();
  drawStatus();
  drawChanges(words, changed);
  drawBest(words);
  drawCompared(words, up);
  inspect();
}
// Spans by character become spans by token.
function tokenSpans(answer) {
  const first = new Map(answer.tokens.map((t, i) => [t.start, i])), last = new Map(answer.tokens.map((t, i) => [t.end, i + 1]));
  return answer.spans.map(s => ({type: s.label, text: nice(s.label), start: first.get(s.start), end: last.get(s.end), p: s.probability}));
}
// How many lines of the text end before a token.
function lineBreaks({tokens}) {
  if (!S.text.includes('\n')) return () => 0;
  const at = units(S.text);
  return t => S.text.slice(at[tokens[t - 1].end], at[tokens[t].start]).split('\n').length - 1;
}
function mini(t) {
  if (!now.marginals) return '';
  const row = now.marginals[t], labels = S.a.labels, top = [...row.keys()].sort((x, y) => row[y] - row[x]).slice(0, 4).filter(k => row[k] > .02);
  return `<span class="mini" aria-hidden="true">${top.map(k => `<i class="${hue(typeOf(String(labels[k])))}" style="width:${(100 * row[k]).toFixed(1)}%"></i>`).join('')}</span>`;
}
const tiny = p => p >= .001 ? p.toFixed(3) : p > 0 ? p.toExponential(0).replace('e-', ' · 10⁻').replace(/\d+$/, d => [...d].map(c => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('')) : '0';
function drawStatus() {
  const n = S.pins.size;
  $('#status').innerHTML = (now.probability == null ? '' : `<span>Whole answer: <b>${now.probability.toFixed(2)}</b></span>`)
    + (n ? `<span>${plural(n, 'forced label')}; the model had given ${n > 1 ? 'them' : 'it'} <b>${tiny(now.given_probability)}</b></span><button class="button" id="release">Release</button>` : '')
    + '<button class="button primary" id="accept">Accept as correct</button>' + (S.told ? `<span>${esc(S.told)}</span>` : '');
  S.told = '';
}
function drawChanges(words, changed) {
  const list = words.map((_, t) => t).filter(changed);
  const p = (answer, t, label) => answer.marginals ? answer.marginals[t][S.a.labels.indexOf(label)].toFixed(2) : '';
  $('#changes').innerHTML = !S.pins.size ? '' : `<div class="note">${list.length ? `<b>${S.pins.size > 1 ? 'Your labels' : 'Your label'} changed ${plural(list.length, 'other word')}</b><ul>${list.slice(0, 12).map(t => `<li>${esc(words[t])}: ${tag(base.tokens[t].label)} → ${tag(now.tokens[t].label)} <span class="muted">${p(base, t, now.tokens[t].label)} → ${p(now, t, now.tokens[t].label)}</span></li>`).join('')}</ul>` : 'No other word changed its label.'}</div>`;
}
function drawBest(words) {
  const list = now.n_best || [], first = list[0];
  $('#best').innerHTML = list.map((b, i) => {
    let text;
    if (i === 0) text = tokenSpans({...now, spans: b.spans}).map(s => `${esc(words.slice(s.start, s.end).join(' '))} ${tag(s.type)}`).join(' &nbsp;') || 'nothing found';
    else {
      const runs = [];
      b.labels.forEach((label, t) => {
        if (label === first.labels[t]) return;
        const from = typeOf(String(first.labels[t])), to = typeOf(String(label)), run = runs.at(-1);
        if (run && run.end === t && run.from === from && run.to === to) run.end = t + 1; else runs.push({start: t, end: t + 1, from, to});
      });
      text = runs.map(r => `${esc(words.slice(r.start, r.end).join(' '))} ${r.from === r.to ? `<span class="muted">other border in</span> ${tag(r.to)}` : `${tag(r.from)} → ${tag(r.to)}`}`).join(' &nbsp;');
    }
    return `<li><span class="muted num">${i + 1}</span><span class="track c0"><i style="width:${100 * b.probability}%"></i></span><button data-i="${i}"${i ? '' : ' disabled'}>${text}</button><span class="num">${b.probability.toFixed(3)}</span></li>`;
  }).join('');
}
function drawCompared(words, up) {
  $('#compared').hidden = !up;
  if (!up) return;
  const key = s => `${s.type}·${s.start}·${s.end}`, own = new Map(tokenSpans(now).map(s => [key(s), s])), theirs = new Map(up.map(s => [key(s), s]));
  const all = [...new Set([...own.keys(), ...theirs.keys()])].map(k => ({s: own.get(k) || theirs.get(k), a: own.get(k), b: theirs.get(k)})).sort((x, y) => x.s.start - y.s.start);
  const cell = s => `<td class="num">${s ? s.p.toFixed(2) : '<span class="muted">not found</span>'}</td>`, differ = all.filter(q => !q.a || !q.b).length;
  $('#compared').innerHTML = `<h2>Two models</h2><div class="scroll" tabindex="0" role="region" aria-label="Spans of two models"><table><thead><tr><th scope="col">Found</th><th class="num" scope="col">${esc(name(S.a))}</th><th class="num" scope="col">${esc(name(S.b))}</th></tr></thead><tbody>${all.map(q => `<tr><td>${esc(words.slice(q.s.start, q.s.end).join(' '))} ${tag(q.s.type)}</td>${cell(q.a)}${cell(q.b)}</tr>`).join('')}</tbody></table></div><p class="small muted" style="margin-top:8px">${!all.length ? 'Neither finds anything.' : differ ? `They differ in ${plural(differ, 'span')}.` : 'Both find the same spans.'}</p>`;
}
function drawClasses() {
  const found = Object.entries(now.classes.probabilities).sort((x, y) => y[1] - x[1]);
  TYPES.length = 0;
  $('#out').innerHTML = `<p class="big">${esc(nice(now.classes.label))}</p><div class="classes">${bars(found.slice(0, 12))}</div>`;
  $('#status').innerHTML = $('#changes').innerHTML = $('#best').innerHTML = $('#inspector').innerHTML = '';
  $('#alternatives').hidden = $('#compared').hidden = true;
}

// ---- the chosen words: labels with their probabilities, and why
function scheme() {
  const first = new Set(S.a.labels.filter(l => /^[A-Z]-./.test(l)).map(l => l[0]));
  return first.has('E') || first.has('S') ? 'BIES' : first.has('L') || first.has('U') ? 'BILU' : first.has('B') ? 'BII' : first.size ? 'III' : '';
}
function labelsFor(type, n) {
  const how = scheme();
  if (type === 'O' || !how) return new Array(n).fill(type);
  return Array.from({length: n}, (_, i) => (n === 1 ? how[3] || how[0] : i === 0 ? how[0] : i === n - 1 ? how[2] : how[1]) + '-' + type);
}
const spanTypes = () => [...new Set(S.a.labels.map(l => typeOf(String(l))))].filter(t => t !== 'O');
function inspect() {
  const lo = Math.min(S.from, S.to), hi = Math.max(S.from, S.to), t = lo, words = now.tokens.map(w => w.text);
  if (lo !== hi) {
    $('#inspector').innerHTML = `<p class="word">${esc(words.slice(lo, hi + 1).join(' '))}</p><p class="small muted">${hi - lo + 1} words. Choose what they are together; the rest is decoded again.</p>
<div class="types" role="group" aria-label="Type of the words">${spanTypes().map(type => `<button class="${hue(type)}" data-type="${esc(type)}">${esc(nice(type))}</button>`).join('')}<button class="c0" data-type="O">none</button></div>`;
    return;
  }
  const row = (S.pins.has(t) ? base : now).marginals?.[t], labels = S.a.labels, forced = S.pins.has(t);
  const order = row ? [...row.keys()].sort((x, y) => base.marginals[t][y] - base.marginals[t][x]).slice(0, 6) : [];
  if (forced && !order.includes(labels.indexOf(S.pins.get(t)))) order.push(labels.indexOf(S.pins.get(t)));
  const marks = order.map(k => `<button class="lab ${hue(typeOf(String(labels[k])))}" data-label="${k}" aria-pressed="${forced && S.pins.get(t) === labels[k]}" title="${esc(labels[k])}"><span>${labels[k] === 'O' ? 'none (O)' : esc(nice(labels[k]))}</span><span class="track"><i style="width:${Math.max(.6, 100 * row[k])}%"></i></span><span class="num">${prob(row[k])}</span></button>`).join('');
  $('#inspector').innerHTML = `<p class="word">${esc(words[t])}</p><p class="small muted" style="margin-bottom:14px">Word ${t + 1} of ${words.length}. ${forced ? 'Forced by you; bars show what the model thought before. Choose the label again to release it.' : 'Choose a label to force it; the rest is decoded again. Shift and click, or shift and an arrow, chooses several words.'}</p>
<div class="set" role="group" aria-label="Labels of ${esc(words[t])}">${marks}</div>
<label class="small muted" style="display:block;margin-top:8px">another label <select id="another" class="button"><option value="">…</option>${labels.map((l, k) => `<option value="${k}">${esc(nice(l))}</option>`).join('')}</select></label>
${others(t, words)}<div id="why"></div>`;
  explain(t);
}
// The span that a word belongs to: other types for the same words, and none.
function others(t, words) {
  const all = tokenSpans(now), i = all.findIndex(s => s.start <= t && t < s.end), list = i < 0 ? null : now.spans[i].alternatives;
  if (!list) return '';
  const {start, end, type, p} = all[i], shown = [{label: type, probability: p}, ...list];
  const rows = shown.map((a, k) => `<button class="lab ${hue(a.label)}" data-span="${esc(a.label)}" data-start="${start}" data-end="${end}"${k ? '' : ' disabled'}><span>${esc(said(a.label))}</span><span class="track"><i style="width:${Math.max(.6, 100 * a.probability)}%"></i></span><span class="num">${prob(a.probability)}</span></button>`);
  return `<h3 id="h-others">The span <b>${esc(words.slice(start, end).join(' '))}</b></h3><div class="set" role="group" aria-labelledby="h-others">${rows.join('')}</div>`;
}
// Explanations are asked for by themselves: an answer while typing does not wait for them.
const why = {key: '', value: null};
async function explain(t) {
  const key = JSON.stringify([S.text, S.a.name, S.a.version, given(), t, S.against]);
  if (why.key !== key) {
    why.key = key;
    try {
      const asked = {positions: [t], top: 12, ...(S.against ? {against: S.against} : {})};
      const found = (await ask(S.a, {probabilities: false, given: given(), explain: asked})).explanations[0];
      if (why.key !== key) return;
      why.value = found;
    } catch (problem) { if (why.key === key) { why.key = ''; why.value = null; } if (problem.status === undefined) throw problem; return; }
  }
  const w = why.value;
  if (!w || !$('#why')) return;
  const rivals = S.a.labels.filter(l => l !== w.label);
  const total = w.difference == null ? 'the rules decide' : `in all ${sgn(w.difference)}`;
  $('#why').innerHTML = `<h3>Why <b>${esc(said(w.label))}</b>, not <select id="against" class="button" aria-label="Compare with">${rivals.map(l => `<option${l === w.against ? ' selected' : ''} value="${esc(l)}">${esc(said(l))}</option>`).join('')}</select></h3>${feats(w.parts.map(p => [p.feature, p.amount]))}<p class="small muted" style="margin-top:8px">Blue speaks for ${esc(said(w.label))}, orange against it; ${total}, with the other labels as they are.${w.n_parts > w.parts.length ? ` ${plural(w.n_parts - w.parts.length, 'weaker feature')} not shown.` : ''}</p>`;
}

// ---- forcing labels
function force(labels, at) {
  for (let i = 0; i < labels.length; i++) { S.pins.delete(at + i); S.pins.set(at + i, labels[i]); }
  S.fresh = labels.length;
  update(true);
}
$('#inspector').addEventListener('click', event => {
  const label = event.target.closest('.lab'), type = event.target.closest('.types button'), lo = Math.min(S.from, S.to);
  if (label && label.dataset.span !== undefined) {
    const {span, start, end} = label.dataset;
    force(labelsFor(span, end - start), +start);
  } else if (label) {
    const wanted = S.a.labels[+label.dataset.label];
    if (S.pins.get(lo) === wanted) { S.pins.delete(lo); update(true); } else force([wanted], lo);
  } else if (type) force(labelsFor(type.dataset.type, Math.abs(S.to - S.from) + 1), lo);
});
$('#inspector').addEventListener('change', event => {
  if (event.target.id === 'another' && event.target.value !== '') force([S.a.labels[+event.target.value]], S.from);
  if (event.target.id === 'against') { S.against = event.target.value; explain(S.from).then(() => $('#against')?.focus()); }
});
$('#best').addEventListener('click', event => {
  const button = event.target.closest('button');
  if (!button || button.disabled) return;
  const labels = now.n_best[+button.dataset.i].labels;
  S.fresh = 0;
  labels.forEach((label, t) => { if (label !== now.tokens[t].label) { S.pins.set(t, label); S.fresh++; } });
  update();
});
let pointing = false; // a click moves the focus first; only keys choose by it
$('#out').addEventListener('pointerdown', () => { pointing = true; setTimeout(() => { pointing = false; }, 400); });
$('#out').addEventListener('click', event => {
  pointing = false;
  const word = event.target.closest('.tok');
  if (!word) return;
  if (event.shiftKey) { S.to = +word.dataset.t; why.key = ''; getSelection()?.removeAllRanges(); } else choose(+word.dataset.t);
  draw(true);
});
document.addEventListener('keydown', event => {
  const word = event.target.closest?.('#out .tok');
  if (!word || !event.shiftKey || !['ArrowRight', 'ArrowLeft'].includes(event.key)) return;
  S.to = Math.max(0, Math.min(now.tokens.length - 1, S.to + (event.key === 'ArrowRight' ? 1 : -1)));
  draw(true);
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
document.addEventListener('focusin', event => {
  const word = event.target.closest?.('#out .tok');
  if (!word || pointing || +word.dataset.t === S.to) return;
  choose(+word.dataset.t);
  $$('#out .tok').forEach((w, t) => { w.classList.toggle('chosen', t === S.from); w.setAttribute('aria-expanded', String(t === S.from)); });
  inspect();
});

// ---- corrections, as training data
const FORMATS = {
  conll: ['corrections.txt', list => list.map(d => d.tokens.map((w, i) => `${w}\t${d.labels[i]}\n`).join('') + '\n').join('')],
  jsonl: ['corrections.jsonl', list => list.map(d => JSON.stringify({text: d.text, spans: d.spans}) + '\n').join('')],
  studio: ['corrections.json', list => JSON.stringify(list.map((d, n) => {
    const at = units(d.text), characters = [...d.text];
    return {data: {text: d.text}, annotations: [{result: d.spans.map((s, i) => ({id: `${n}-${i}`, from_name: 'label', to_name: 'text', type: 'labels', value: {start: at[s.start], end: at[s.end], text: characters.slice(s.start, s.end).join(''), labels: [s.label]}}))}]};
  }), null, 1) + '\n'],
};
const written = () => FORMATS[S.format][1](S.done);
function drawDone() {
  const n = S.done.length;
  $('#h-corrected').textContent = n ? `Corrected examples (${n})` : 'Corrected examples';
  $('#corrected').classList.toggle('empty', !n);
  $('#corrected').textContent = n ? written() : 'Nothing accepted yet. Correct labels by forcing them, then accept the answer: it is added here, ready for training.';
  $('#copy').disabled = $('#download').disabled = $('#undo').disabled = !n;
  $$('#format button').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.k === S.format)));
}
$('#status').addEventListener('click', event => {
  if (event.target.id === 'release') { S.pins.clear(); update(); }
  if (event.target.id === 'accept') {
    const spans = now.spans.map(s => ({start: s.start, end: s.end, label: s.label}));
    S.done.push({text: S.text, tokens: now.tokens.map(t => t.text), labels: now.tokens.map(t => t.label), spans});
    drawDone();
    event.target.textContent = 'Accepted';
  }
});
$('#format').addEventListener('click', event => { if (event.target.dataset.k) { S.format = event.target.dataset.k; drawDone(); } });
$('#download').addEventListener('click', () => save(FORMATS[S.format][0], written()));
$('#undo').addEventListener('click', () => { S.done.pop(); drawDone(); });
$('#copy').addEventListener('click', async event => {
  const button = event.target;
  try { await navigator.clipboard.writeText(written()); button.textContent = 'Copied'; } catch { button.textContent = 'Not allowed here'; }
  setTimeout(() => { button.textContent = 'Copy'; }, 1500);
});

// ---- the head
function fresh(text) { $('#text').value = text; S.pins.clear(); S.from = null; update(); }
$('#text').addEventListener('input', () => { S.pins.clear(); S.from = null; update(); });
function options(chosen, none) {
  return (none ? `<option value="">${none}</option>` : '') + S.models.map((m, i) => `<option value="${i}"${m === chosen ? ' selected' : ''}${m.reads_text ? '' : ' disabled'}>${esc(name(m))}${m.reads_text ? '' : ' (reads no texts)'}</option>`).join('');
}
function drawHead() {
  const several = S.models.filter(m => m.reads_text).length > 1, tags = S.models.filter(m => m.reads_text && m.task === 'tagging').length > 1;
  $('#title').textContent = D.title || (S.a ? name(S.a) : 'chainfield');
  $('#choices').innerHTML = (several ? `<label>Model <select id="a" class="button">${options(S.a)}</select></label>` : '')
    + (tags ? `<label>Compare with <select id="b" class="button">${options(S.b, 'nothing')}</select></label>` : '') + '<button class="button" id="theme">Dark</button>';
  $('#foot').textContent = `${S.a ? `${S.a.class} with ${plural(S.a.labels.length, 'label')} and ${plural(S.a.n_weights, 'weight')}, version ${S.a.version}. ` : ''}${backend.about}`;
  themed();
}
$('#choices').addEventListener('change', event => {
  const chosen = S.models[+event.target.value];
  if (event.target.id === 'a') { S.a = chosen; if (S.b === S.a) S.b = null; S.pins.clear(); base = null; drawHead(); $('#a').focus(); }
  if (event.target.id === 'b') S.b = event.target.value === '' ? null : chosen;
  update();
});
const dark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const themed = () => { $('#theme').textContent = dark() ? 'Light' : 'Dark'; };
$('#choices').addEventListener('click', event => { if (event.target.id === 'theme') { document.documentElement.dataset.theme = dark() ? 'light' : 'dark'; themed(); } });
function askKey() {
  if ($('#key')) return;
  $('#choices').insertAdjacentHTML('afterbegin', '<label>Key <input id="key" class="key" type="password" autocomplete="off"></label>');
  $('#key').onchange = event => { backend.key = event.target.value.trim(); start(); };
}
async function start() {
  try { S.models = await backend.models(); failed = ''; } catch (problem) {
    if (problem.status === undefined) throw problem;
    failed = problem.error;
    drawHead();
    if (problem.status === 401) askKey();
    draw();
    return;
  }
  S.a = S.models.find(m => m.name === QUERY.get('model') && m.reads_text) || S.models.find(m => m.reads_text) || null;
  S.b = S.models.find(m => m.name === QUERY.get('with') && m !== S.a && m.reads_text) || null;
  if (!S.a) failed = 'No model here reads texts; use the interface for programs (/openapi.json).';
  drawHead();
  const examples = D.examples || [];
  $('#examples').innerHTML = examples.length > 1 ? examples.map((e, i) => `<button data-i="${i}">${esc(e.length > 80 ? e.slice(0, 78) + '…' : e)}</button>`).join('') : '';
  $('#examples').onclick = event => { if (event.target.dataset.i) fresh(examples[+event.target.dataset.i]); };
  drawDone();
  if (!$('#text').value) $('#text').value = QUERY.get('text') || examples[0] || '';
  update();
}
start();
