// A linear-chain tagger in the browser: features, constraints, best paths, probabilities, forced labels, explanations.
const UPPER_CASE = 1, LOWER_CASE = 2, TITLE_CASE = 4, DECIMAL = 8, MARK_OR_SIGN = 16, HAS_LOWER = 32;
function bytes(text, kind) { return new kind(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer); }
const round = p => Math.round(p * 1e6) / 1e6;
const NOTHING = new Set(['O', '_', '-']); // what stands where a token has no label
const SCHEMES = {bio: 'BIIB', bioes: 'BIES', bilou: 'BILU', io: 'IIII'}; // the first, inner, last and only token of a span
const refused = error => { throw {status: 422, error}; };

// What Python's strings say of words, by a table of the Python that made the model's page.
class Words {
  constructor(table) { this.table = table; }
  is(character, bit) { return (this.table[character.codePointAt(0)] & bit) !== 0; }
  sign(c) { return this.is(c, DECIMAL) ? '0' : this.is(c, UPPER_CASE) ? 'X' : this.is(c, LOWER_CASE) ? 'x' : c; }
  lower(word) {
    const whole = word.toLowerCase();
    // Where this browser knows letters that the table does not, each character is looked up.
    return [...word].every(c => c.toLowerCase() === c || this.is(c, HAS_LOWER)) ? whole : [...word].map(c => this.is(c, HAS_LOWER) ? c.toLowerCase() : c).join('');
  }
  isUpper(word) {
    let cased = false;
    for (const c of word) { if (this.is(c, LOWER_CASE | TITLE_CASE)) return false; if (this.is(c, UPPER_CASE)) cased = true; }
    return cased;
  }
  isTitle(word) {
    let cased = false, before = false;
    for (const c of word) {
      if (this.is(c, UPPER_CASE | TITLE_CASE)) { if (before) return false; before = cased = true; }
      else if (this.is(c, LOWER_CASE)) { if (!before) return false; cased = true; }
      else before = false;
    }
    return cased;
  }
  all(word, bit) { const list = [...word]; return list.length > 0 && list.every(c => this.is(c, bit)); }
  transform(name, argument, word) {
    const list = () => [...word], flag = yes => yes ? '1' : null, n = +argument;
    switch (name) {
      case 'identity': return word;
      case 'lower': return this.lower(word);
      case 'shape': return list().map(c => this.sign(c)).join('');
      case 'short-shape': return list().map(c => this.sign(c)).join('').replace(/(.)\1+/gsu, '$1');
      case 'digits': return list().map(c => this.is(c, DECIMAL) ? '0' : c).join('');
      case 'has-digit': return flag(list().some(c => this.is(c, DECIMAL)));
      case 'has-hyphen': return flag(word.includes('-'));
      case 'has-upper': return flag(list().some(c => this.is(c, UPPER_CASE) && !this.is(c, DECIMAL)));
      case 'is-upper': return flag(this.isUpper(word));
      case 'is-title': return flag(this.isTitle(word));
      case 'is-digits': return flag(this.all(word, DECIMAL));
      case 'is-punctuation': return flag(this.all(word, MARK_OR_SIGN));
      case 'prefix': { const c = list(); return c.length >= n ? c.slice(0, n).join('') : null; }
      case 'suffix': { const c = list(); return c.length >= n ? c.slice(-n).join('') : null; }
    }
    throw new Error(`transform ${name}`);
  }
}

class Engine {
  constructor(model, unicode) {
    Object.assign(this, model);
    this.words = new Words(unicode.letters);
    this.kinds = unicode.kinds;
    const L = this.L = model.labels.length, counts = bytes(model.counts, Uint16Array), first = new Uint32Array(counts.length + 1);
    counts.forEach((n, f) => { first[f + 1] = first[f] + n; });
    this.first = first;
    this.row = bytes(model.row, Uint16Array);
    this.weight = bytes(model.weight, Float64Array);
    this.number = new Map(model.features.map((name, f) => [name, f]));
    this.edge = new Float64Array(L * L).fill(-Infinity); // [from · L + to]; −∞: there is no such step
    const src = bytes(model.src, Uint16Array), dst = bytes(model.dst, Uint16Array), score = bytes(model.edge_score, Float64Array);
    this.into = Array.from({length: L}, () => []);
    this.from = Array.from({length: L}, () => []);
    src.forEach((a, e) => { this.edge[a * L + dst[e]] = score[e]; this.into[dst[e]].push(a); this.from[a].push(dst[e]); });
    this.into.forEach(list => list.sort((a, b) => a - b));
  }

  // ---- features: templates write strings, strings have weights
  active(words) {
    const n = words.length, wapiti = this.dialect === 'wapiti', cache = new Map();
    const pad = at => { const [sign, d] = at < 0 ? ['-', -at] : ['+', at - n + 1]; return wapiti ? `_x${sign}${d <= 4 ? d : '#'}` : `_B${sign}${d}`; };
    const read = ([offset, absolute, name, argument, lower], t) => {
      const at = !absolute ? t + offset : offset < 0 ? offset + n : offset - 1;
      if ((at < 0 || at >= n) && !wapiti) return pad(at);
      const cell = at < 0 || at >= n ? pad(at) : words[at], key = `${name}:${argument}:${lower}:${cell}`;
      if (!cache.has(key)) {
        const value = this.words.transform(name, argument, cell);
        cache.set(key, value !== null && lower ? value.replace(/[A-Z]/g, c => c.toLowerCase()) : value);
      }
      return cache.get(key);
    };
    return words.map((_, t) => {
      const found = [];
      for (const pieces of this.templates) {
        let text = '';
        for (const piece of pieces) {
          const value = typeof piece === 'string' ? piece : read(piece, t);
          if (value === null) { text = null; break; }
          text += value;
        }
        const f = text === null ? undefined : this.number.get(text);
        if (f !== undefined) found.push(f);
      }
      return found;
    });
  }
  weightOf(f, label) {
    for (let k = this.first[f]; k < this.first[f + 1]; k++) if (this.row[k] === label) return this.weight[k];
    return 0;
  }
  scores(active) {
    const n = active.length, L = this.L;
    return active.map((features, t) => {
      const s = new Float64Array(L);
      for (const f of features) for (let k = this.first[f]; k < this.first[f + 1]; k++) s[this.row[k]] += this.weight[k];
      for (let l = 0; l < L; l++) {
        if (t === 0) s[l] = this.may_start[l] ? s[l] + this.start[l] : -Infinity;
        if (t === n - 1) s[l] = this.may_end[l] ? s[l] + this.end[l] : -Infinity;
      }
      return s;
    });
  }
  // sets: for some positions, which labels are allowed
  clamped(S, sets) {
    if (!sets || !sets.size) return S;
    return S.map((s, t) => sets.has(t) ? s.map((v, l) => sets.get(t)(l) ? v : -Infinity) : s);
  }

  // ---- sums over paths: A[t][l] = log Σ over paths that end in l at t
  forward(S) {
    const L = this.L, A = [];
    for (let t = 0; t < S.length; t++) {
      const a = new Float64Array(L).fill(-Infinity);
      for (let l = 0; l < L; l++) {
        if (S[t][l] === -Infinity) continue;
        if (t === 0) { a[l] = S[0][l]; continue; }
        let top = -Infinity, sum = 0;
        for (const k of this.into[l]) { const v = A[t - 1][k] + this.edge[k * L + l]; if (v > top) top = v; }
        if (top === -Infinity) continue;
        for (const k of this.into[l]) sum += Math.exp(A[t - 1][k] + this.edge[k * L + l] - top);
        a[l] = top + Math.log(sum) + S[t][l];
      }
      A.push(a);
    }
    return A;
  }
  logZ(A) {
    const last = A.at(-1);
    if (!last) return 0;
    let top = -Infinity, sum = 0;
    for (const v of last) if (v > top) top = v;
    if (top === -Infinity) return top;
    for (const v of last) sum += Math.exp(v - top);
    return top + Math.log(sum);
  }
  marginals(S, A, z) {
    const n = S.length, L = this.L, found = new Array(n);
    let B = new Float64Array(L);
    for (let t = n - 1; t >= 0; t--) {
      found[t] = Array.from(A[t], (a, l) => Math.exp(a + B[l] - z));
      if (!t) break;
      const next = new Float64Array(L).fill(-Infinity);
      for (let k = 0; k < L; k++) {
        let top = -Infinity, sum = 0;
        for (const l of this.from[k]) { const v = this.edge[k * L + l] + S[t][l] + B[l]; if (v > top) top = v; }
        if (top === -Infinity) continue;
        for (const l of this.from[k]) sum += Math.exp(this.edge[k * L + l] + S[t][l] + B[l] - top);
        next[k] = top + Math.log(sum);
      }
      B = next;
    }
    return found;
  }
  // ---- the best paths: ties go to the label with the lowest number
  nBest(S, n) {
    const L = this.L;
    if (!S.length) return [{labels: [], score: 0}];
    let last = null;
    for (let t = 0; t < S.length; t++) {
      const ways = [];
      for (let l = 0; l < L; l++) {
        const own = [], node = S[t][l];
        if (node > -Infinity && t === 0) own.push({score: node, l, before: null});
        else if (node > -Infinity) for (const k of this.into[l]) {
          const step = this.edge[k * L + l];
          for (const way of last[k]) { // sorted: once one comes too late, the others do
            const score = way.score + step + node;
            if (own.length === n && score <= own[n - 1].score) break;
            let at = Math.min(own.length, n - 1);
            while (at > 0 && own[at - 1].score < score) { own[at] = own[at - 1]; at--; }
            own[at] = {score, l, before: way};
          }
        }
        ways.push(own);
      }
      last = ways;
    }
    return last.flat().sort((a, b) => b.score - a.score).slice(0, n).map(way => {
      const labels = [];
      for (let at = way; at; at = at.before) labels.unshift(at.l);
      return {labels, score: way.score};
    });
  }

  // ---- spans, by the same tables as in Python
  spans(labels) {
    const {closes, opens, whole, types} = this.table, L = this.L, found = [];
    let start = -1;
    for (let t = 0; t <= labels.length; t++) {
      const before = t ? labels[t - 1] : L, label = t < labels.length ? labels[t] : L, opened = t < labels.length && opens[before][label] === '1';
      if (start >= 0 && (opened || closes[before][label] === '1' || t === labels.length)) {
        if (whole[before][label] === '1') found.push({type: types[labels[start]], start, end: t});
        start = -1;
      }
      if (opened) start = t;
    }
    return found;
  }
  // own: the labels of a span that begins at start
  spanProbability(S, z, own, start) {
    const {closes, opens} = this.table, sets = new Map(own.map((y, i) => [start + i, l => l === y])), end = start + own.length, last = own.at(-1);
    // A neighbour may not make the span longer.
    if (start > 0) sets.set(start - 1, l => opens[l][own[0]] === '1');
    if (end < S.length) sets.set(end, l => closes[last][l] === '1' || opens[last][l] === '1');
    return Math.exp(this.logZ(this.forward(this.clamped(S, sets))) - z);
  }
  // Other types for the place of a span, and none, with their probabilities: the most probable first.
  alternatives(S, z, {type, start, end}, most) {
    const n = end - start, [first, inside, last, alone] = SCHEMES[this.scheme];
    const place = i => n === 1 ? alone : i === 0 ? first : i === n - 1 ? last : inside;
    const found = [...new Set(this.table.types)].filter(t => t && !NOTHING.has(t)).sort().map(t => {
      const own = Array.from({length: n}, (_, i) => this.labels.indexOf(this.labels.includes(t) ? t : `${place(i)}-${t}`));
      return {label: t, probability: own.includes(-1) ? 0 : this.spanProbability(S, z, own, start)};
    });
    const none = this.labels.indexOf('O'), out = new Map(Array.from({length: n}, (_, i) => [start + i, l => l === none]));
    found.push({label: 'O', probability: none < 0 ? 0 : Math.exp(this.logZ(this.forward(this.clamped(S, out))) - z)});
    return found.filter(a => a.label !== type).sort((a, b) => b.probability - a.probability).slice(0, most).map(a => ({...a, probability: round(a.probability)}));
  }

  // ---- one sequence
  run(words, sets, {nBest = 1, marginals = false, probabilities = true, alternatives = 0}) {
    const active = this.active(words), free = this.scores(active), S = this.clamped(free, sets);
    const best = this.nBest(S, Math.max(nBest, 1));
    if (!best.length) refused('These labels leave no allowed path: they break the rules of the model.');
    const found = {words, active, free, S, labels: best[0].labels};
    const A = this.forward(S), z = this.logZ(A);
    found.best = best.map(b => ({labels: b.labels, p: Math.exp(b.score - z)}));
    found.given = sets && sets.size ? Math.exp(z - this.logZ(this.forward(free))) : 1;
    if (marginals) found.marginals = this.marginals(S, A, z);
    found.spans = this.spans(found.labels);
    if (probabilities) found.spans.forEach(s => { s.p = this.spanProbability(S, z, found.labels.slice(s.start, s.end), s.start); });
    if (alternatives) found.spans.forEach(s => { s.others = this.alternatives(S, z, s, alternatives); });
    return found;
  }
  // What speaks for the label of a position, and what for its rival, the other labels staying as they are.
  explain(run, t, against, top) {
    const L = this.L, path = run.labels, n = path.length, best = path[t], S = run.free;
    const step = (a, b) => this.edge[a * L + b];
    const route = l => (t ? step(path[t - 1], l) : 0) + S[t][l] + (t + 1 < n ? step(l, path[t + 1]) : 0);
    let rival = -1;
    if (against !== undefined && against !== best) rival = against;
    else {
      let highest = -Infinity;
      for (let l = 0; l < L; l++) if (l !== best && route(l) > highest) { highest = route(l); rival = l; }
      if (rival < 0) { // none is possible: the most probable one
        let most = -1;
        for (let l = 0; l < L; l++) if (l !== best && run.marginals[t][l] > most) { most = run.marginals[t][l]; rival = l; }
      }
      if (rival < 0) rival = best;
    }
    const parts = run.active[t].map(f => [this.features[f], this.weightOf(f, best), this.weightOf(f, rival), 'position']);
    if (this.bounded && t === 0) parts.push(['start of the sequence', this.start[best], this.start[rival], 'position']);
    if (this.bounded && t === n - 1) parts.push(['end of the sequence', this.end[best], this.end[rival], 'position']);
    const possible = [best, rival].map(l => route(l) > -Infinity);
    if (t) parts.push([`transition from ${this.labels[path[t - 1]]}`, ...[best, rival].map((l, k) => possible[k] ? step(path[t - 1], l) : -Infinity), 'before']);
    if (t + 1 < n) parts.push([`transition to ${this.labels[path[t + 1]]}`, ...[best, rival].map((l, k) => possible[k] ? step(l, path[t + 1]) : -Infinity), 'after']);
    const minus = (a, b) => a === b ? 0 : a - b, finite = v => Number.isFinite(v) ? round(v) : null;
    const kept = parts.map(([feature, a, b, place]) => ({feature, difference: minus(a, b), place})).filter(p => p.difference !== 0)
      .sort((p, q) => Math.abs(q.difference) === Math.abs(p.difference) ? 0 : Math.abs(q.difference) - Math.abs(p.difference));
    const sum = side => parts.reduce((total, p) => total + p[side], 0);
    return {label: this.labels[best], probability: round(run.marginals[t][best]), against: this.labels[rival], against_probability: round(run.marginals[t][rival]),
      possible: possible[1], difference: finite(minus(sum(1), sum(2))), n_parts: kept.length,
      parts: kept.slice(0, top).map(p => ({feature: p.feature, amount: finite(p.difference), place: p.place}))};
  }

  // ---- a question as /v1/tag takes it, and its answer
  tag({text, given = [], with_tokens = false, marginals = false, n_best = 0, probabilities = true, alternatives = 0, explain}) {
    const characters = [...text], cut = cutTokens(characters.map(c => c.codePointAt(0)), this.kinds);
    const words = cut.map(([a, b]) => characters.slice(a, b).join('')), n = words.length, firsts = [];
    cut.forEach(([, , begins], t) => { if (t === 0 || (this.sentences && begins)) firsts.push(t); });
    const place = t => { let s = firsts.length - 1; while (firsts[s] > t) s--; return s; };
    const sets = firsts.map(() => new Map());
    for (const {position, label} of given) {
      if (position >= n) refused(`Input 0 has no token ${position}: it has ${n}, counted from 0.`);
      const wanted = (Array.isArray(label) ? label : [label]).map(l => { const k = this.labels.indexOf(l); if (k < 0) refused(`The model has no label '${l}'.`); return k; });
      const s = place(position);
      sets[s].set(position - firsts[s], l => wanted.includes(l));
    }
    const wants = {nBest: n_best, marginals: marginals || with_tokens || explain !== undefined, probabilities, alternatives};
    const runs = firsts.map((a, s) => this.run(words.slice(a, firsts[s + 1]), sets[s], wants));
    const spanOf = (s, a) => ({start: cut[a + s.start][0], end: cut[a + s.end - 1][1], label: s.type});
    const answer = {spans: runs.flatMap((run, i) => run.spans.map(s => {
      const place = spanOf(s, firsts[i]);
      return {...place, text: characters.slice(place.start, place.end).join(''), ...(probabilities ? {probability: round(s.p)} : {}), ...(s.others ? {alternatives: s.others} : {})};
    }))};
    if (probabilities) answer.probability = round(runs.reduce((p, run) => p * run.best[0].p, 1));
    if (with_tokens) answer.tokens = cut.map(([start, end], t) => {
      const s = place(t), own = t - firsts[s], label = runs[s].labels[own];
      return {start, end, text: words[t], label: this.labels[label], probability: round(runs[s].marginals[own][label])};
    });
    if (marginals) answer.marginals = runs.flatMap(run => run.marginals.map(row => row.map(round)));
    if (n_best) {
      let whole = [{labels: [], p: 1}];
      for (const run of runs) whole = whole.flatMap(a => run.best.map(b => ({labels: [...a.labels, ...b.labels], p: a.p * b.p}))).sort((a, b) => b.p - a.p).slice(0, n_best);
      answer.n_best = whole.map(({labels, p}) => ({labels: labels.map(l => this.labels[l]), probability: round(p),
        spans: firsts.flatMap((a, s) => this.spans(labels.slice(a, firsts[s + 1])).map(q => spanOf(q, a)))}));
    }
    if (given.length) answer.given_probability = runs.reduce((p, run) => p * run.given, 1);
    if (explain) answer.explanations = (explain.positions || words.map((_, t) => t)).map(position => {
      if (position >= n) refused(`Input 0 has no token ${position}: it has ${n}, counted from 0.`);
      const s = place(position), rival = explain.against === undefined ? undefined : this.labels.indexOf(explain.against);
      if (rival === -1) refused(`The model has no label '${explain.against}' to compare with.`);
      return {position, ...this.explain(runs[s], position - firsts[s], rival, explain.top || 12)};
    });
    return answer;
  }
}
