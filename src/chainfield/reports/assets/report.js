const D = JSON.parse($('#data').textContent), KINDS = {missed: 'missed', spurious: 'spurious', boundary: 'wrong border', type: 'wrong type', both: 'wrong type and border'};
const TAGGING = D.task === 'tagging', THINGS = TAGGING ? 'sentence' : 'sequence';
let M = D.models[0];
const SPANS = () => Boolean(M.scores && M.scores.of === 'spans');
const METRIC = {span_f1: 'F1', token_accuracy: 'accuracy', accuracy: 'accuracy'};

// ---- the head: what was trained on what, and what a reader should know first
function head() {
  const all = M.scores && M.scores.all, t = M.about.training, what = SPANS() ? 'F1, whole spans' : TAGGING ? 'Labels that are right, %' : 'Sequences that are right, %';
  const size = TAGGING ? `${plural(D.data.n_sequences, 'sentence')} (${plural(D.data.n_positions, 'word')})` : plural(D.data.n_sequences, 'sequence');
  const trained = t ? `${esc(M.about.class)}, trained on ${plural(t.n_sequences, THINGS)} (${plural(t.n_positions, TAGGING ? 'word' : 'position')})${t.seconds != null ? ` in ${t.seconds.toFixed(1)} s` : ''}.` : `${esc(M.about.class)}.`;
  const groups = D.data.n_groups ? ` in ${plural(D.data.n_groups, 'group')}` : '';
  const options = D.models.length > 1 ? `<p style="margin-top:14px" class="noprint"><label>Model <select id="which">${D.models.map((m, i) => `<option value="${i}"${m === M ? ' selected' : ''}>${esc(m.name)}</option>`).join('')}</select></label></p>` : '';
  const big = all ? `<div><div class="muted small">${what}</div><div class="big">${pct(all.f1.estimate)}</div>${interval(all.f1, 0, 1, 'c0')}<div class="muted small" style="display:flex;justify-content:space-between"><span>0</span><span>${pct(M.scores.level, 0)} % interval ${pct(all.f1.low)} to ${pct(all.f1.high)}</span><span>100</span></div></div>` : '<div></div>';
  return `<header><div><h1>${esc(D.title)}</h1><p class="facts">${trained}<br>Tested on ${size}${groups}${D.data.source ? ` of ${esc(D.data.source)}` : ''}.</p>${options}</div>${big}</header>
<ul class="findings">${M.findings.map(f => `<li>${esc(f)}</li>`).join('')}</ul>${settings(t)}`;
}
const interval = (v, lo, hi, hue) => { const x = u => Math.max(0, Math.min(100, 100 * (u - lo) / (hi - lo || 1))); return `<div class="iv ${hue}" aria-hidden="true"><i style="left:${x(v.low)}%;width:${x(v.high) - x(v.low)}%"></i><b style="left:${x(v.estimate)}%"></b></div>`; };
function settings(t) {
  const a = M.about, rows = [['Model', `<code>${esc(a.class)}</code>: ${plural(a.n_labels, 'label')}, ${plural(a.n_states, 'state')}, ${plural(a.n_features, 'feature')}, ${plural(a.n_weights, 'weight')}`]];
  if (t) rows.push(['Training', `${plural(t.n_iter, 'iteration')} of ${esc(t.trainer)}, ${t.best_iteration === t.n_iter ? 'the last one' : `number ${t.best_iteration}`} kept: ${esc(t.stop_reason)}`], ['Data', `${plural(t.n_sequences, THINGS)}${t.n_dev_sequences ? `, ${fmt(t.n_dev_sequences)} more for development` : ''}; fingerprint <code>${esc(t.fingerprint)}</code>`]);
  const own = Object.entries(t ? t.settings : a.settings).filter(([, v]) => v !== null && v !== false && typeof v !== 'object').map(([k, v]) => `<code>${esc(k)}=${esc(String(v).slice(0, 200))}</code>`).join(' ');
  rows.push(['Settings', own], ['Software', `chainfield ${esc(t ? t.version : D.version)}${t && t.version !== D.version ? `; this report: ${esc(D.version)}` : ''}`]);
  return `<details><summary>Settings and data</summary><dl>${rows.map(([k, v]) => `<dt>${k}</dt><dd>${v}</dd>`).join('')}</dl></details>`;
}

// ---- scores
function scores() {
  const S = M.scores;
  if (!S) return '';
  const rows = [...S.rows].sort((a, b) => b.f1.estimate - a.f1.estimate), ends = [...rows, S.all];
  let lo = Math.floor(10 * Math.min(...ends.map(r => r.f1.low))) / 10, hi = Math.ceil(10 * Math.max(...ends.map(r => r.f1.high))) / 10;
  if (hi - lo < .2) { lo = Math.max(0, hi - .2); }
  const at = ticks(lo, hi, 4).filter(v => v >= lo - 1e-9 && v <= hi + 1e-9), x = v => 100 * (v - lo) / (hi - lo);
  const row = (r, total) => `<tr class="${total ? 'total' : ''}"><th scope="row"><span class="${total ? 'c0' : hue(r.type)}"><i class="dot"></i></span> ${esc(r.type || '(no type)')}</th><td>${interval(r.f1, lo, hi, total ? 'c0' : hue(r.type))}</td><td class="num">${pct(r.f1.estimate)}</td><td class="num muted wide">${pct(r.f1.low)} to ${pct(r.f1.high)}</td><td class="num" title="${pct(r.precision.low)} to ${pct(r.precision.high)}">${pct(r.precision.estimate)}</td><td class="num" title="${pct(r.recall.low)} to ${pct(r.recall.high)}">${pct(r.recall.estimate)}</td><td class="num wide">${fmt(r.gold)}</td><td class="num wide">${fmt(r.found)}</td></tr>`;
  const unit = S.unit === 'group' ? 'groups (documents)' : THINGS + 's', more = S.n_types > rows.length ? ` The ${rows.length} most frequent of ${S.n_types} types.` : '';
  return section('scores', 'Scores', `${S.of === 'spans' ? 'Whole spans: type, first and last word must be right.' : 'Single labels.'} Bars are ${pct(S.level, 0)} % intervals of F1, from ${fmt(S.n_resamples)} resamples of ${fmt(S.n_units)} test ${unit}.${more}`,
    `<div class="scroll" tabindex="0" role="region" aria-label="Table of scores"><table><thead><tr><th scope="col">${S.of === 'spans' ? 'Type' : 'Label'}</th><th scope="col" style="width:38%"><div class="ticks">${at.map(v => `<span style="left:${x(v)}%">${pct(v, 0)}</span>`).join('')}</div></th><th class="num" scope="col">F1</th><th class="num wide" scope="col">interval</th><th class="num" scope="col">Precision</th><th class="num" scope="col">Recall</th><th class="num wide" scope="col">Gold</th><th class="num wide" scope="col">Found</th></tr></thead><tbody>${rows.map(r => row(r)).join('')}${row(S.all, true)}</tbody></table></div>`);
}

// ---- learning
function learning() {
  const t = M.about.training, figures = [];
  if (M.curve) figures.push(`<figure><h3>${METRIC[M.curve.metric]} by size of training data</h3><div id="curve"></div><figcaption>${THINGS[0].toUpperCase() + THINGS.slice(1)}s drawn at random; band: lowest and highest of ${M.curve.points[0].draws} draws. Dashed: on the ${THINGS}s it was trained on.</figcaption></figure>`);
  if (t && t.history.length > 1) figures.push(`<figure><h3>Training, iteration by iteration</h3><div id="history"></div><figcaption>${esc(t.stop_reason[0].toUpperCase() + t.stop_reason.slice(1))}. The weights of iteration ${t.best_iteration} were kept${t.every > 1 ? `; every ${t.every}th iteration is shown` : ''}.</figcaption></figure>`);
  return figures.length ? section('learning', 'Learning', M.curve ? 'Would more data help, and did training go far enough?' : 'Did training go far enough?', `<div class="two">${figures.join('')}</div>`) : '';
}
function drawLearning() {
  if ($('#curve')) {
    const P = M.curve.points, last = P[P.length - 1];
    chart($('#curve'), 240, `Scores from ${P[0].n} to ${last.n} training ${THINGS}s: ${P.map(p => pct(p.test)).join(', ')}`, (w, h) => {
      const l = 34, r = w - 46, b = h - 28, x = scale(0, last.n, l, r), y = scale(0, 100, b, 14);
      return axisY(y, [0, 25, 50, 75, 100], l, r) + P.map(p => `<text x="${x(p.n)}" y="${h - 8}" text-anchor="middle">${fmt(p.n)}</text>`).join('') +
        `<path d="${line([...P.map(p => [x(p.n), y(100 * p.high)]), ...[...P].reverse().map(p => [x(p.n), y(100 * p.low)])])}Z" fill="var(--c1-l)" opacity=".16"/><path d="${line(P.map(p => [x(p.n), y(100 * p.test)]))}" fill="none" stroke="var(--c1-l)" stroke-width="2"/>` +
        P.map(p => `<circle cx="${x(p.n)}" cy="${y(100 * p.test)}" r="3.5" fill="var(--c1-l)"/>`).join('') + `<path d="${line(P.map(p => [x(p.n), y(100 * p.train)]))}" fill="none" stroke="var(--c0-l)" stroke-width="1.5" stroke-dasharray="4 3"/><text class="on" x="${x(last.n) + 8}" y="${y(100 * last.test) + 4}">${pct(last.test)}</text>`;
    });
  }
  if ($('#history')) {
    const t = M.about.training, H = t.history.filter(q => q.objective != null), dev = H.filter(q => q.dev_score != null), n = H[H.length - 1].iteration;
    const lowest = Math.min(...H.map(q => q.objective)), top = [...H.map(q => q.objective)].sort((a, b) => a - b)[Math.floor(.95 * (H.length - 1))];
    chart($('#history'), 240, `The objective fell from ${H[0].objective.toPrecision(4)} to ${H[H.length - 1].objective.toPrecision(4)} in ${n} iterations`, (w, h) => {
      const l = 46, r = w - 12, x = scale(H[0].iteration, n, l, r), cut = dev.length ? 122 : 14, yt = ticks(Math.min(lowest, top), Math.max(lowest, top), 3), y2 = scale(yt[0], yt[yt.length - 1], h - 28, cut + 18);
      const short = v => Math.abs(v) >= 1e4 ? `${+(v / 1000).toPrecision(3)}k` : +v.toPrecision(4);
      let out = axisY(y2, yt, l, r, short) + [...new Set([H[0].iteration, Math.round(n / 2), n])].map(v => `<text x="${x(v)}" y="${h - 8}" text-anchor="middle">${v}</text>`).join('');
      out += `<path d="${line(H.map(q => [x(q.iteration), y2(Math.min(q.objective, yt[yt.length - 1]))]))}" fill="none" stroke="var(--c2-l)" stroke-width="2"/><text class="on" x="${r}" y="${cut + 14}" text-anchor="end">objective</text>`;
      if (dev.length) {
        const dt = ticks(Math.min(...dev.map(q => q.dev_score)), Math.max(...dev.map(q => q.dev_score)), 3), y1 = scale(dt[0], dt[dt.length - 1], 110, 16), best = dev.find(q => q.iteration === t.best_iteration) || dev[dev.length - 1];
        out += axisY(y1, dt, l, r, v => +(100 * v).toPrecision(4)) + `<path d="${line(dev.map(q => [x(q.iteration), y1(q.dev_score)]))}" fill="none" stroke="var(--c1-l)" stroke-width="2"/><circle cx="${x(best.iteration)}" cy="${y1(best.dev_score)}" r="4" fill="var(--bg)" stroke="var(--c1-l)" stroke-width="2"/><text class="on" x="${Math.min(Math.max(x(best.iteration), l + 20), r - 20)}" y="${y1(best.dev_score) + (y1(best.dev_score) < 30 ? 20 : -9)}" text-anchor="middle">${pct(best.dev_score)}</text><text class="on" x="${r}" y="12" text-anchor="end">score on development data</text>`;
      }
      return out;
    });
  }
}

// ---- errors of taggers
const F = {kind: new Set(), type: new Set(), order: 'sure', cell: null, n: 8};
const typesOf = m => [m.gold && m.gold[0], m.found && m.found[0]].filter(t => t != null);
const wanted = m => (!F.kind.size || F.kind.has(m.kind)) && (!F.type.size || typesOf(m).some(t => F.type.has(t))) && (!F.cell || ((m.gold ? m.gold[0] : 'spurious') === F.cell[0] && (m.found ? m.found[0] : 'missed') === F.cell[1]));
function shownOpenly(E) {
  if (!E.n) return 'No mistake was made.';
  const shown = E.n_surest + E.n_sampled;
  if (shown >= E.n) return `All ${plural(E.n, THINGS)} with a mistake.`;
  return `${fmt(shown)} of ${fmt(E.n)} ${THINGS}s with a mistake: the ${fmt(E.n_surest)} surest${E.n_sampled ? ` and ${fmt(E.n_sampled)} drawn at random from the others` : ''}.`;
}
function errors() {
  const E = M.errors;
  if (!E.n) return section('errors', 'Errors', 'No mistake was made.', '');
  const lead = `${shownOpenly(E)} ${TAGGING ? 'Choose a word to see what spoke for the model’s label against the gold one.' : 'The surest mistakes first.'}`;
  if (!TAGGING) return section('errors', 'Errors', lead, '<div id="list"></div><div class="more noprint"><button class="button" id="more">Show more</button></div>');
  const kinds = SPANS() ? '<div><span id="lk">Mistake</span><div class="chips" id="kinds" role="group" aria-labelledby="lk"></div></div>' : '';
  return section('errors', 'Errors', lead, `<div class="filters noprint">${kinds}<div><span id="lt">${SPANS() ? 'Type' : 'Label'}</span><div class="chips" id="types" role="group" aria-labelledby="lt"></div></div><div><span id="lo">Order</span><div class="choice" id="order" role="group" aria-labelledby="lo"></div></div></div><div class="legend"><span>gold above</span><span>model below, with its probability</span><span>faint: right on both sides</span><span id="count" role="status"></span></div><div id="list"></div><div class="more noprint"><button class="button" id="more">Show more</button></div>`);
}
function chips(element, names, set, face, count) {
  if (!element) return;
  element.innerHTML = names.map(k => `<button class="chip" aria-pressed="${set.has(k)}" data-k="${esc(k)}">${face(k)}<span>${fmt(count(k))}</span></button>`).join('');
  element.onclick = event => {
    const chip = event.target.closest('button');
    if (!chip) return;
    const k = chip.dataset.k;
    if (!set.delete(k)) set.add(k);
    F.cell = null; F.n = 8; drawErrors();
    $$('button', element).find(b => b.dataset.k === k)?.focus();
  };
}
const asSpan = (s, extra) => ({type: s[0], start: s[1], end: s[2], ...extra});
function drawErrors() {
  if (!$('#list')) return;
  if (!TAGGING) return drawSequences();
  const all = M.errors.sentences.flatMap(s => s.mistakes);
  const names = [...new Set(all.flatMap(typesOf))].map(t => [t, all.filter(m => typesOf(m).includes(t)).length]).sort((a, b) => b[1] - a[1]).slice(0, 24).map(q => q[0]);
  chips($('#kinds'), Object.keys(KINDS), F.kind, k => KINDS[k], k => all.filter(m => m.kind === k).length);
  chips($('#types'), names, F.type, k => `<i class="dot ${hue(k)}"></i>${esc(k || '(no type)')}`, k => all.filter(m => typesOf(m).includes(k)).length);
  $('#order').innerHTML = [['sure', 'surest first'], ['unsure', 'least sure first'], ['file', 'as in the data']].map(([k, t]) => `<button aria-pressed="${F.order === k}" data-k="${k}">${t}</button>`).join('');
  $('#order').onclick = event => { if (event.target.dataset.k) { F.order = event.target.dataset.k; drawErrors(); $(`#order [data-k=${F.order}]`).focus(); } };
  const list = M.errors.sentences.map(s => ({s, m: s.mistakes.filter(wanted)})).filter(q => q.m.length).map(q => ({...q, p: Math.max(...q.m.map(m => m.p))}));
  list.sort({sure: (a, b) => b.p - a.p, unsure: (a, b) => a.p - b.p, file: (a, b) => a.s.i - b.s.i}[F.order]);
  const n = list.reduce((sum, q) => sum + q.m.length, 0);
  $('#count').innerHTML = `<b>${plural(n, 'mistake')} in ${plural(list.length, 'sentence')}</b>${F.cell ? ` (${esc(F.cell.join(' → '))}) <button class="chip" id="clear">show all</button>` : ''}`;
  if ($('#clear')) $('#clear').onclick = () => { F.cell = null; drawErrors(); };
  $('#list').innerHTML = list.slice(0, F.n).map(q => oneError(q.s, q.m, q.p)).join('') || '<p class="muted" style="padding:24px 0">No mistake of this kind is shown.</p>';
  $('#more').hidden = list.length <= F.n;
  $('#more').textContent = `Show more (${fmt(Math.max(0, list.length - F.n))} left)`;
  $('#more').onclick = () => { F.n += 12; drawErrors(); };
}
const same = (a, b) => a && a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
function oneError(s, mistakes, p) {
  const wrong = (span, side) => s.mistakes.some(m => same(m[side], span)), over = (a, list) => list.some(b => b.start < a[2] && a[1] < b.end);
  const up = s.gold.map(g => asSpan(g, {style: wrong(g, 'gold') ? '' : 'quiet'}));
  const down = s.found.map(f => asSpan(f, {p: wrong(f, 'found') ? f[3] : null, style: wrong(f, 'found') ? '' : 'quiet'}));
  for (const m of s.mistakes) {
    if (m.kind === 'missed' && !over(m.gold, down)) down.push({type: '', text: 'none', start: m.gold[1], end: m.gold[2], style: 'none', p: m.p});
    if (m.kind === 'spurious' && !over(m.found, up)) up.push({type: '', text: 'none', start: m.found[1], end: m.found[2], style: 'none'});
  }
  const counts = {};
  mistakes.forEach(m => { counts[m.kind] = (counts[m.kind] || 0) + 1; });
  const told = SPANS() ? Object.entries(counts).map(([k, n]) => KINDS[k] + (n > 1 ? ` ×${n}` : '')).join(', ') : plural(mistakes.length, 'wrong label');
  const cut = cutWords(s), hidden = s.hidden ? `<p class="small muted">${plural(s.hidden, 'more mistake')} in the part that is not shown.</p>` : '';
  return `<article class="case" data-i="${s.i}"><div class="side"><b>${p.toFixed(2)}</b>${told}<br>sentence ${fmt(s.i + 1)}</div><div class="body">${cut.before}${sentence(s.tokens, up, down, {live: t => s.why[t] !== undefined, names: {up: 'Gold', down: 'Model'}})}${cut.after}${hidden}<div class="slot" aria-live="polite"></div></div></article>`;
}
function cutWords(s) {
  const word = n => `<p class="small muted">… ${plural(n, 'word')} …</p>`;
  return {before: s.cut[0] ? word(s.cut[0]) : '', after: s.cut[1] ? word(s.cut[1]) : ''};
}
function openWord(word) {
  const article = word.closest('.case'), slot = $('.slot', article), open = word.getAttribute('aria-expanded') === 'true';
  $$('.tok.live', article).forEach(t => t.setAttribute('aria-expanded', 'false'));
  if (open) { slot.innerHTML = ''; return; }
  word.setAttribute('aria-expanded', 'true');
  const s = M.errors.sentences.find(q => q.i === +article.dataset.i), t = +word.dataset.t, w = s.why[t];
  const rest = w.n_parts - w.parts.length, total = w.total == null ? 'the rules decide' : `in all ${sgn(w.total)}, all other labels staying as they are`;
  const rival = w.against === w.gold ? ' (gold)' : w.gold === w.label ? ' (best rival; the label is right)' : ' (best rival)';
  slot.innerHTML = `<div class="why"><div><h3>Labels of “${esc(s.tokens[t])}”</h3>${bars(w.marginals)}<p class="small muted" style="margin-top:10px">Gold: ${esc(w.gold)}</p></div><div><h3>What speaks for <b>${esc(w.label)}</b> against ${esc(w.against)}${rival}</h3>${feats(w.parts.map(([k, d]) => [D.features[k], d]))}<p class="small muted" style="margin-top:8px">${rest > 0 ? `and ${plural(rest, 'smaller one')}; ` : ''}${total}</p></div></div>`;
}
function drawSequences() {
  const list = M.errors.sequences.filter(s => !F.cell || (s.gold === F.cell[0] && s.found === F.cell[1]));
  $('#list').innerHTML = (F.cell ? `<p class="small">${esc(F.cell.join(' → '))} <button class="chip" id="clear">show all</button></p>` : '') + list.slice(0, F.n).map(s => `<article class="case"><div class="side"><b>${s.p.toFixed(2)}</b>sequence ${fmt(s.i + 1)}<br>${plural(s.length, 'position')}</div><div class="body two"><div><h3>Gold ${esc(s.gold)}, found ${esc(s.found)}</h3>${bars(s.probabilities)}</div>${s.states ? `<div><h3>States of ${esc(s.found)} that it went through</h3><div class="path" role="img" aria-label="${esc(s.states.join(', '))}">${s.states.map(k => `<i class="c${k % 8 + 1}" title="state ${k}"></i>`).join('')}</div><p class="small muted" style="margin-top:6px">${runs(s.states)}</p></div>` : ''}</div></article>`).join('');
  if ($('#clear')) $('#clear').onclick = () => { F.cell = null; drawErrors(); };
  $('#more').hidden = list.length <= F.n;
  $('#more').textContent = `Show more (${fmt(Math.max(0, list.length - F.n))} left)`;
  $('#more').onclick = () => { F.n += 12; drawErrors(); };
}
function runs(states) {
  const out = [];
  states.forEach((k, t) => { if (t && states[t - 1] === k) out[out.length - 1][1]++; else out.push([k, 1]); });
  return out.slice(0, 30).map(([k, n]) => `state ${k}${n > 1 ? ` ×${n}` : ''}`).join(', ') + (out.length > 30 ? ' …' : '');
}

// ---- confusion
function confusion() {
  const C = M.mistakes.confusion, spans = SPANS(), n = C.types.length;
  if (!n) return '';
  const columns = spans ? [...C.types, 'missed'] : C.types, rows = spans ? [...C.types, 'spurious'] : C.types, many = n > 12 ? ' many' : '';
  const top = Math.max(1, ...C.counts[n].slice(0, n));
  const cell = (r, c, i, j) => {
    if (r === 'spurious' && c === 'missed' && i === n && j === n) return '<td></td>';
    const v = C.counts[i][j], total = i === n ? top : Math.max(1, C.counts[i].reduce((a, b) => a + b, 0)), b = i === j && C.boundary[i] ? ` <small>(${C.boundary[i]})</small>` : '';
    return `<td><button class="${i === j ? 'good' : 'bad'}${v ? '' : ' zero'}" style="--q:${Math.round(58 * Math.sqrt(Math.min(1, v / total)))}%" data-r="${esc(r)}" data-c="${esc(c)}" aria-label="${v}${b ? ` (${C.boundary[i]})` : ''} ${esc(r)} taken for ${esc(c)}">${v}${b}</button></td>`;
  };
  const table = `<div class="scroll" tabindex="0" role="region" aria-label="Table of confusions"><table class="matrix${many}" id="matrix"><thead><tr><td></td>${columns.map(c => `<th scope="col"><span>${esc(c || '(no type)')}</span></th>`).join('')}</tr></thead><tbody>${rows.map((r, i) => `<tr><th scope="row">${esc(r || '(no type)')}</th>${columns.map((c, j) => cell(r, c, i, j)).join('')}</tr>`).join('')}</tbody></table></div>`;
  const K = M.mistakes.kinds, worst = Math.max(1, ...Object.values(K)), note = C.n_types > n ? ` The ${n} most frequent of ${C.n_types} are shown.` : '';
  const kinds = spans ? `<div><h3>Kinds of mistake</h3><div class="bars">${Object.entries(K).sort((a, b) => b[1] - a[1]).map(([k, v]) => `<span>${KINDS[k]}</span><span class="track c2" style="height:14px"><i style="width:${100 * v / worst}%"></i></span><span class="num">${fmt(v)}</span>`).join('')}</div></div>` : '';
  const caption = spans ? 'Spans that overlap are paired. Diagonal: right types; in brackets, those with a wrong border.' : 'Diagonal: right.';
  return section('confusion', 'Confusion', `Gold ${spans ? 'spans' : 'labels'} in rows, what the model made of them in columns. Choose a number to see its ${THINGS}s.`, `<div class="${spans && n <= 8 ? 'two' : ''}"><div>${table}<p class="small muted" style="margin-top:10px">${caption}${note}</p></div>${kinds}</div>`);
}

// ---- confidence
function confidence() {
  const C = M.calibration;
  if (!C.n) return '';
  const what = SPANS() ? 'spans' : TAGGING ? 'labels' : 'classes';
  const slider = M.coverage.length > 1 ? `<label class="threshold noprint"><span>Threshold</span><input type="range" id="threshold" min="0" max="${M.coverage.length - 1}" step="1"><output id="said" class="num" style="width:3em"></output></label>` : '';
  return section('confidence', 'Confidence', 'Can the probabilities be believed, and what is gained by keeping only sure answers?',
    `<div class="two"><figure><h3>Reliability of the probabilities of ${what}</h3><div id="reliability"></div><figcaption>${plural(C.n, 'answer')} by probability: circles by number, lines are 95 % intervals. Mean gap ${(100 * C.error).toFixed(1)} points; circles below the diagonal are too sure. Grey: how many answers there are at each probability.</figcaption></figure><figure><h3>Precision and recall if only sure ${what} are kept</h3><div id="coverage"></div>${slider}<figcaption id="kept" aria-live="polite"></figcaption></figure></div>`);
}
function drawConfidence() {
  const C = M.calibration, K = M.coverage;
  if (!$('#reliability')) return;
  chart($('#reliability'), w => Math.min(w, 360), `Reliability: ${C.bins.map(b => `${pct(b.mean, 0)} said, ${pct(b.share.estimate, 0)} right`).join('; ')}`, (w, h) => {
    const l = 34, r = Math.min(w - 8, 440), strip = 40, b = h - 30, pb = b - strip - 10, x = scale(0, 1, l, r), y = scale(0, 1, pb, 14), top = Math.max(1, ...C.histogram);
    return axisY(y, [0, .25, .5, .75, 1], l, r, v => 100 * v) + [0, .25, .5, .75, 1].map(v => `<text x="${x(v)}" y="${h - 10}" text-anchor="middle">${v}</text>`).join('') + `<path d="M${x(0)},${y(0)}L${x(1)},${y(1)}" stroke="var(--edge)" stroke-dasharray="4 3"/>` +
      C.histogram.map((n, i) => `<rect x="${x(i / 20) + 1}" width="${x(.05) - x(0) - 2}" y="${b - strip * n / top}" height="${strip * n / top}" fill="var(--c0-l)" opacity=".5"><title>${fmt(n)} answers</title></rect>`).join('') +
      C.bins.filter(q => q.n > 4).map(q => `<line x1="${x(q.mean)}" x2="${x(q.mean)}" y1="${y(q.share.low)}" y2="${y(q.share.high)}" stroke="var(--c1-l)" stroke-width="1.5"/><circle cx="${x(q.mean)}" cy="${y(q.share.estimate)}" r="${Math.min(9, 2.5 + Math.sqrt(q.n) / 4)}" fill="var(--c1-l)"><title>${fmt(q.n)} answers: ${pct(q.mean)} said, ${pct(q.share.estimate)} right</title></circle>`).join('') +
      `<text x="${l}" y="9" style="font-size:11px">share that is right, %</text><text class="on" x="${x(.6)}" y="${y(.3)}">too sure</text><text class="on" x="${x(.12)}" y="${y(.72)}">too modest</text>`;
  });
  if (K.length < 2) return;
  let at = Math.max(0, K.findIndex(q => q[0] >= .8));
  const redraw = chart($('#coverage'), w => Math.min(w, 360) - 48, 'Precision rises and recall falls with the threshold', (w, h) => {
    const l = 34, r = w - 70, b = h - 28, x = scale(0, 1, l, r), y = scale(0, 1, b, 14), q = K[at];
    const precision = K.filter(c => c[1] > .02), end = precision[precision.length - 1] || K[0], last = K[K.length - 1];
    let yp = y(end[2]) + 4, yr = y(last[3]) - 2;
    if (Math.abs(yp - yr) < 14) yr = yp + 15;
    return axisY(y, [0, .25, .5, .75, 1], l, r, v => 100 * v) + [0, .25, .5, .75, 1].map(v => `<text x="${x(v)}" y="${h - 8}" text-anchor="middle">${v}</text>`).join('') + `<path d="${line(precision.map(c => [x(c[0]), y(c[2])]))}" fill="none" stroke="var(--c1-l)" stroke-width="2"/><path d="${line(K.map(c => [x(c[0]), y(c[3])]))}" fill="none" stroke="var(--c2-l)" stroke-width="2" stroke-dasharray="6 3"/><line x1="${x(q[0])}" x2="${x(q[0])}" y1="${y(0)}" y2="${y(1)}" stroke="var(--ink)"/><circle cx="${x(q[0])}" cy="${y(q[2])}" r="4" fill="var(--c1-l)"/><circle cx="${x(q[0])}" cy="${y(q[3])}" r="4" fill="var(--c2-l)"/><text class="on" x="${r + 6}" y="${yp}">precision</text><text class="on" x="${r + 6}" y="${yr}">recall</text>`;
  });
  const say = () => { const q = K[at]; $('#said').textContent = q[0].toFixed(2); $('#kept').textContent = `From ${q[0].toFixed(2)} on: ${pct(q[1], 0)} % of the answers are kept (${fmt(Math.round(q[1] * C.n))} of ${fmt(C.n)}). Precision ${pct(q[2])}, recall ${pct(q[3])}.`; };
  $('#threshold').value = at;
  $('#threshold').oninput = event => { at = +event.target.value; say(); redraw(); };
  say();
}

// ---- inside the model
const matrixTable = (names, weights, extra = '') => {
  const top = Math.max(1e-9, ...weights.flat().filter(v => v != null).map(Math.abs)), many = names.length > 14;
  const cell = (v, a, b) => v == null ? `<td class="x" title="${esc(a)} → ${esc(b)} does not exist"><span class="spoken">none</span></td>` : `<td class="${v > 0 ? 'p' : 'n'}" style="--q:${Math.round(60 * Math.min(1, Math.abs(v) / top))}%" title="${esc(a)} → ${esc(b)}: ${v}">${many ? '' : (v <= -.05 ? '−' : '') + Math.abs(v).toFixed(1)}${many ? `<span class="spoken">${v}</span>` : ''}</td>`;
  return `<div class="scroll" tabindex="0" role="region" aria-label="Weights of transitions"><table class="moves${names.length > 6 ? ' many' : ''}"><thead><tr><td style="background:none"></td>${names.map(b => `<th scope="col"><span>${esc(b)}</span></th>`).join('')}</tr></thead><tbody>${extra}${names.map((a, i) => `<tr><th scope="row">${esc(a)}</th>${names.map((b, j) => cell(weights[i][j], a, b)).join('')}</tr>`).join('')}</tbody></table></div><div class="key"><span><i style="background:var(--pos)"></i>encouraged</span><span><i style="background:var(--neg)"></i>discouraged</span><span><i style="background:repeating-linear-gradient(135deg,transparent 0 4px,var(--edge) 4px 5px)"></i>does not exist</span></div>`;
};
let label = null;
function inside() {
  const I = M.inside, parts = [];
  if (I.transitions) {
    const T = I.transitions, note = T.n_labels > T.labels.length ? ` The ${T.labels.length} most frequent of ${T.n_labels} labels.` : '';
    parts.push(`<figure><h3>Weights of transitions</h3>${matrixTable(T.labels, T.weights)}<figcaption>From the label in the row to the label in the column.${note}</figcaption></figure>`);
  }
  if (I.features) {
    const names = Object.keys(I.features.labels);
    if (!names.includes(label)) label = names.find(n => n !== 'O') || names[0];
    parts.push(`<div><h3>Strongest features of a label</h3>${names.length > 16 ? `<p style="margin-bottom:14px"><select id="label" aria-label="Label">${names.map(n => `<option${n === label ? ' selected' : ''}>${esc(n)}</option>`).join('')}</select></p>` : `<div class="chips" id="label" role="group" aria-label="Label" style="margin-bottom:14px">${names.map(n => `<button class="chip" aria-pressed="${n === label}" data-k="${esc(n)}"><i class="dot ${hue(typeOf(n.split('#')[0]))}"></i>${esc(n)}</button>`).join('')}</div>`}<div id="top" aria-live="polite"></div><p class="small muted" style="margin-top:8px">Weight, and how often the feature occurred in training where that is known.</p></div>`);
  }
  if (I.states) {
    const S = I.states, shown = S.rows.length;
    parts.push(`<div><h3>Hidden states and the words that fire them</h3><p class="small muted" style="margin-bottom:10px">${S.n_used} of ${S.n} states fire on these data, ${S.perplexity} in effect.${shown < S.n_used ? ` ${shown} are shown.` : ''}</p><div class="scroll" tabindex="0" role="region" aria-label="Hidden states"><table><thead><tr><th scope="col">State</th><th class="num" scope="col">Words</th><th scope="col">Most frequent</th></tr></thead><tbody>${S.rows.map(r => `<tr><th scope="row"><i class="dot ${hue(typeOf(r.label))}"></i> ${esc(r.name)}</th><td class="num">${fmt(r.n)}</td><td>${r.tokens.map(([w, n]) => `<span title="${fmt(n)} times">${esc(w)}</span>`).join(', ') || '<span class="muted">no words</span>'}</td></tr>`).join('')}</tbody></table></div></div>`);
    parts.push(`<figure class="full"><h3>Transitions between states</h3>${matrixTable(S.rows.map(r => r.name), S.weights)}<figcaption>States with like neighbours stand together.</figcaption></figure>`);
  }
  if (I.units) parts.push(`<div><h3>Hidden units that set labels apart most</h3><p class="small muted" style="margin-bottom:10px">${I.units.rows.length} of ${I.units.n} units.</p><div class="scroll" tabindex="0" role="region" aria-label="Hidden units"><table><thead><tr><th scope="col">Unit</th><th scope="col">Switched on by</th><th scope="col">Speaks for and against</th></tr></thead><tbody>${I.units.rows.map(r => `<tr><th scope="row">${r.unit}</th><td>${r.features.map(([f, w]) => `${inWords(f)} <span class="muted">${sgn(w)}</span>`).join('<br>')}</td><td>${r.labels.map(([f, w]) => `${esc(f)} <span class="muted">${sgn(w)}</span>`).join('<br>')}</td></tr>`).join('')}</tbody></table></div></div>`);
  if (I.hmm) parts.push(...I.hmm.classes.map((c, i) => `<figure><h3><i class="dot ${hue(c.label)}"></i> ${esc(c.label)}</h3><div class="graph" data-i="${i}"></div>${hmmTable(c, I.hmm)}</figure>`));
  return parts.length ? section('inside', 'Inside the model', 'What it has learned.', `<div class="two">${parts.join('')}</div>`) : '';
}
function hmmTable(c, H) {
  const n = c.states[0].mean.length, columns = [...Array(n).keys()];
  return `<div class="scroll" tabindex="0" role="region" aria-label="Means and deviations of ${esc(c.label)}"><table class="small"><thead><tr><th scope="col">State</th>${columns.map(k => `<th class="num" scope="col">column ${k}</th>`).join('')}</tr></thead><tbody>${c.states.map((s, k) => `<tr><th scope="row">${k}</th>${columns.map(d => `<td class="num">${s.mean[d]} <span class="muted">± ${s.deviation[d]}</span></td>`).join('')}</tr>`).join('')}</tbody></table></div><figcaption>Mean and standard deviation of each column in each state${H.n_components > 1 ? `, over ${H.n_components} Gaussians` : ''}.${H.n_columns > n ? ` The first ${n} of ${H.n_columns} columns.` : ''}</figcaption>`;
}
function drawInside() {
  const I = M.inside;
  if (I.features) {
    const draw = () => { const own = I.features.labels[label]; $('#top').innerHTML = feats([...own.for, ...own.against].map(([f, w, n]) => [f, w, n == null ? '' : `${fmt(n)}×`])); };
    const pick = k => { label = k; $$('#label button').forEach(b => b.setAttribute('aria-pressed', String(b.dataset.k === k))); draw(); };
    if ($('#label').tagName === 'SELECT') $('#label').onchange = event => pick(event.target.value);
    else $('#label').onclick = event => { const b = event.target.closest('button'); if (b) pick(b.dataset.k); };
    draw();
  }
  $$('.graph').forEach(g => {
    const c = I.hmm.classes[+g.dataset.i], n = c.states.length;
    chart(g, 130, `States of ${c.label}: ${c.moves.map(m => `${m[0]} to ${m[1]} ${m[2]}`).join(', ')}`, (w, h) => {
      const x = k => n === 1 ? w / 2 : 34 + k * (w - 68) / (n - 1), y = h / 2 + 14, R = 16;
      let out = '';
      for (const [a, b, p] of c.moves) {
        if (p < .005) continue;
        if (a === b) { out += `<path d="M${x(a) - 7},${y - R}C${x(a) - 24},${y - 56} ${x(a) + 24},${y - 56} ${x(a) + 7},${y - R}" fill="none" stroke="var(--c1-l)" stroke-width="${1 + 2 * p}" opacity=".7"/><text x="${x(a)}" y="${y - 50}" text-anchor="middle">${p.toFixed(2)}</text>`; continue; }
        const d = Math.sign(b - a), far = Math.abs(b - a), bend = far > 1 || d < 0 ? (d < 0 ? 34 : 26 + 6 * far) : 0, m = (x(a) + x(b)) / 2;
        out += `<path d="M${x(a) + d * R},${y}Q${m},${y + bend} ${x(b) - d * (R + 5)},${y}" fill="none" stroke="var(--c2-l)" stroke-width="${1 + 2 * p}" opacity=".7"/><path d="M${x(b) - d * R},${y}l${-d * 7},-4v8z" fill="var(--c2-l)"/>` + (n <= 8 ? `<text x="${m}" y="${y + bend / 2 + (bend ? 14 : -6)}" text-anchor="middle">${p.toFixed(2)}</text>` : '');
      }
      return out + c.states.map((s, k) => `<circle cx="${x(k)}" cy="${y}" r="${R}" fill="var(--panel)" stroke="var(--ink)"/><text class="on" x="${x(k)}" y="${y + 4}" text-anchor="middle">${k}</text>`).join('');
    });
  });
}

// ---- doubtful gold labels
const decisions = new Map();
let nDoubtful = 6;
function doubtful() {
  const G = M.doubtful;
  if (!G || !G.rows.length) return '';
  const where = G.of === 'training' ? 'Models that were trained without them read the training data.' : 'The model has not been trained on these data.';
  return section('gold', 'Doubtful gold labels', `${where} Here it gives its own labels a probability of ${G.sure} or more, and gold says otherwise: ${plural(G.n_sure, 'place')}${G.n_sure > G.rows.length ? `, the ${G.rows.length} surest of which are here` : ''}. The model may still be wrong.`, '<div id="doubts"></div><div class="more noprint"><button class="button" id="moredoubts">Show more</button><button class="button primary" id="keep" disabled>Download decisions</button></div>');
}
function drawDoubtful() {
  if (!$('#doubts')) return;
  const rows = M.doubtful.rows;
  $('#doubts').innerHTML = rows.slice(0, nDoubtful).map((s, k) => {
    const none = other => ({type: '', text: 'none', start: other[1], end: other[2], style: 'none'});
    const up = [s.gold ? asSpan(s.gold) : none(s.found)], down = [s.found ? asSpan(s.found, {p: s.p_found}) : {...none(s.gold), p: s.p_found}];
    const words = [...(s.cut[0] ? ['…'] : []), ...s.tokens, ...(s.cut[1] ? ['…'] : [])], by = s.cut[0] ? 1 : 0;
    const move = list => list.map(q => ({...q, start: q.start + by, end: q.end + by}));
    return `<article class="case"><div class="side"><b>${s.p_found.toFixed(2)}</b>gold: ${s.p_gold < .001 ? 'below 0.001' : s.p_gold.toFixed(3)}<br>${THINGS} ${fmt(s.i + 1)}</div><div class="body">${sentence(words, move(up), move(down), {names: {up: 'Gold', down: 'Model'}})}</div><div class="choice noprint" data-k="${k}" role="group" aria-label="Which is right?">${['keep gold', 'take model'].map(t => `<button aria-pressed="${decisions.get(k) === t}">${t}</button>`).join('')}</div></article>`;
  }).join('');
  $('#doubts').onclick = event => { const b = event.target.closest('.choice button'); if (!b) return; const k = +b.parentNode.dataset.k; decisions.set(k, b.textContent); $$('button', b.parentNode).forEach(o => o.setAttribute('aria-pressed', String(o === b))); count(); };
  const count = () => { $('#keep').disabled = !decisions.size; $('#keep').textContent = decisions.size ? `Download ${plural(decisions.size, 'decision')}` : 'Download decisions'; };
  $('#moredoubts').hidden = nDoubtful >= rows.length;
  $('#moredoubts').onclick = () => { nDoubtful += 9; drawDoubtful(); };
  $('#keep').onclick = () => save('decisions.jsonl', [...decisions].map(([k, decision]) => { const s = rows[k]; return JSON.stringify({sequence: s.i, start: s.start, end: s.end, gold: s.gold_labels, model: s.found_labels, decision}); }).join('\n') + '\n');
  count();
}

// ---- several models
function comparison() {
  const C = D.comparison;
  if (!C) return '';
  const table = `<div class="scroll" tabindex="0" role="region" aria-label="Table of models"><table><thead><tr><th scope="col">Model</th><th scope="col" style="width:40%"></th><th class="num" scope="col">${SPANS() ? 'F1' : 'Accuracy'}</th><th class="num" scope="col">interval</th></tr></thead><tbody>${D.models.map(m => m.scores ? `<tr><th scope="row">${esc(m.name)}</th><td>${interval(m.scores.all.f1, 0, 1, 'c1')}</td><td class="num">${pct(m.scores.all.f1.estimate)}</td><td class="num muted">${pct(m.scores.all.f1.low)} to ${pct(m.scores.all.f1.high)}</td></tr>` : '').join('')}</tbody></table></div>`;
  const rows = C.map((c, k) => {
    const d = c.difference, m = c.mcnemar, apart = d && (d.low > 0 || d.high < 0), who = d && d.estimate > 0 ? c.a : c.b;
    const said = !d ? '' : apart ? `<b>${esc(who)}</b> is ${(100 * Math.abs(d.estimate)).toFixed(1)} points better (95 % interval ${(100 * Math.min(Math.abs(d.low), Math.abs(d.high))).toFixed(1)} to ${(100 * Math.max(Math.abs(d.low), Math.abs(d.high))).toFixed(1)}, paired bootstrap).` : `No difference is shown: ${sgn(100 * d.estimate, 1)} points, 95 % interval ${sgn(100 * d.low, 1)} to ${sgn(100 * d.high, 1)} (paired bootstrap).`;
    const sentences = c.sentences.length ? `<h3 style="margin-top:20px">Where they differ: ${plural(c.n_different, 'sentence')}${c.n_different > c.sentences.length ? `, the first ${c.sentences.length}` : ''}</h3><div class="legend"><span>${esc(c.a)} above</span><span>${esc(c.b)} below</span></div><div class="differences" data-k="${k}"></div><div class="more noprint"><button class="button">Show more</button></div>` : '';
    return `<h3 style="margin-top:24px">${esc(c.a)} and ${esc(c.b)}</h3><p>${said} Only ${esc(c.a)} has ${plural(m.n_only_a, THINGS)} right, only ${esc(c.b)} ${fmt(m.n_only_b)} (McNemar’s test${m.exact ? ', exact' : ''}: p = ${m.p}).</p>${sentences}`;
  }).join('');
  return section('compared', 'Models compared', 'Is one better, and where do they differ?', table + rows);
}
function drawComparison() {
  $$('.differences').forEach(element => {
    const c = D.comparison[+element.dataset.k], button = $('button', element.nextElementSibling);
    let n = 6;
    const draw = () => {
      element.innerHTML = c.sentences.slice(0, n).map(s => { const cut = cutWords(s), gold = s.gold.map(g => `${esc(s.tokens.slice(g[1], g[2]).join(' '))}: ${esc(g[0])}`).join(', ') || 'none'; return `<article class="case"><div class="side"><b>${s.better ? esc(s.better === 'a' ? c.a : c.b) : 'even'}</b>${s.better ? 'is better' : ''}<br>sentence ${fmt(s.i + 1)}</div><div class="body">${cut.before}${sentence(s.tokens, s.a.map(q => asSpan(q)), s.b.map(q => asSpan(q)), {names: {up: c.a, down: c.b}})}${cut.after}<p class="small muted">Gold: ${gold}</p></div></article>`; }).join('');
      button.hidden = n >= c.sentences.length;
      button.textContent = `Show more (${fmt(Math.max(0, c.sentences.length - n))} left)`;
    };
    button.onclick = () => { n += 9; draw(); };
    draw();
  });
}

// ---- the page
const SECTIONS = {};
function section(id, title, lead, body) {
  SECTIONS[id] = title;
  return `<section id="${id}" aria-labelledby="h-${id}"><h2 id="h-${id}">${title}</h2><p class="lead">${lead}</p>${body}</section>`;
}
let watcher;
function draw() {
  for (const key of Object.keys(SECTIONS)) delete SECTIONS[key];
  TYPES.length = 0;
  if (M.scores) M.scores.rows.forEach(r => hue(r.type));
  F.kind.clear(); F.type.clear(); F.cell = null; F.n = 8; decisions.clear();
  $('main').innerHTML = head() + comparison() + scores() + learning() + errors() + confusion() + confidence() + inside() + doubtful();
  $('nav .top').innerHTML = '<b>chainfield</b>' + Object.entries(SECTIONS).map(([id, title]) => `<a href="#${id}">${title}</a>`).join('');
  drawComparison(); drawLearning(); drawErrors(); drawConfidence(); drawInside(); drawDoubtful();
  if ($('#which')) $('#which').onchange = event => { M = D.models[+event.target.value]; draw(); $('#which').focus(); };
  if ($('#matrix')) $('#matrix').onclick = event => { const b = event.target.closest('button'); if (!b) return; F.kind.clear(); F.type.clear(); F.cell = [b.dataset.r, b.dataset.c]; F.n = 8; drawErrors(); $('#errors').scrollIntoView(); };
  $('#list')?.addEventListener('click', event => { const word = event.target.closest('.tok.live'); if (word) openWord(word); });
  watcher?.disconnect();
  watcher = new IntersectionObserver(entries => entries.forEach(e => { if (e.isIntersecting) $$('nav a').forEach(a => a.classList.toggle('here', a.hash === '#' + e.target.id)); }), {rootMargin: '-20% 0px -70% 0px'});
  $$('section').forEach(s => watcher.observe(s));
}
$('footer').textContent = `Made by chainfield ${D.version}. One file, no request to anywhere.`;
draw();
