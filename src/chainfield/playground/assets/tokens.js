// The built-in tokeniser (chainfield.text.rules), rule by rule: what a table says of characters decides everything.
const SPACE = 0, WORD = 1, DIGIT = 2, PUNCTUATION = 3, SYMBOL = 4, EXTEND = 6, KIND = 7, LOWER = 8, TERMINAL = 16, CLOSING = 32;
const LONGEST = 4096, SHORT = 2;
function spread(runs) { // [step to the next code point that differs, its entry, …]
  const table = new Uint8Array(0x110000);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) { at += runs[i]; table.fill(runs[i + 1], at); }
  return table;
}
const letterLike = k => k === WORD || k === DIGIT || k === EXTEND;
const apostrophe = c => c === 39 || c === 0x2019;
const asciiLetter = c => (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
const asciiAlphanumeric = c => asciiLetter(c) || (c >= 48 && c <= 57);
const bracket = c => c === 40 || c === 91 || c === 123 ? 1 : c === 41 || c === 93 || c === 125 ? -1 : 0;
function extended(kinds, j, m) { while (j < m && (kinds[j] & KIND) === EXTEND) j++; return j; }
function lettersAfter(kinds, j, m) { let n = 0; while (n <= SHORT && j + n < m && letterLike(kinds[j + n] & KIND)) n++; return n; }
function schemeEnd(codes, i, m) {
  let j = i;
  while (j < m && (asciiAlphanumeric(codes[j]) || [43, 45, 46].includes(codes[j]))) j++;
  return j + 3 < m && j > i && codes[j] === 58 && codes[j + 1] === 47 && codes[j + 2] === 47 ? j + 3 : -1 - Math.max(j, i + 1);
}
function isWww(codes, i, m) {
  return i + 4 < m && codes[i + 3] === 46 && asciiAlphanumeric(codes[i + 4]) && [0, 1, 2].every(k => (codes[i + k] | 32) === 119);
}
function addressEnd(codes, kinds, lo, m) {
  let end = lo, depth = 0;
  while (end < m) {
    const c = codes[end];
    if (c === 60 || c === 62 || c === 34 || (c >= 128 && !letterLike(kinds[end] & KIND))) break;
    depth += bracket(c);
    end++;
  }
  while (end > lo) {
    const c = codes[end - 1];
    if (bracket(c) === -1 && depth < 0) depth++;
    else if (bracket(c) === 1) depth--;
    else if (!([46, 44, 59, 58, 33, 63, 42, 96].includes(c) || apostrophe(c))) break;
    end--;
  }
  return end;
}
function mailEnd(codes, kinds, i, m) {
  let j = i;
  while (j < m && (letterLike(kinds[j] & KIND) || [46, 43, 45, 37].includes(codes[j]))) j++;
  if (j === i || j >= m || codes[j] !== 64) return -1 - Math.max(j, i + 1);
  let k = j + 1, end = -1, dotted = false;
  while (k < m) {
    if (letterLike(kinds[k] & KIND)) { k++; if (dotted) end = k; }
    else if (codes[k] === 45) k++;
    else if (codes[k] === 46 && k > j + 1 && k + 1 < m && letterLike(kinds[k + 1] & KIND)) { dotted = true; k++; }
    else break;
  }
  return end > 0 ? end : -1 - (j + 1);
}
function acronymEnd(codes, kinds, i, m) {
  let k = i;
  while (k + 1 < m && (kinds[k] & KIND) === WORD && codes[k + 1] === 46) k += 2;
  if (k - i < 4) return -1 - Math.max(k, i + 1);
  if (k < m && letterLike(kinds[k] & KIND)) return (kinds[k] & KIND) !== WORD || (k + 1 < m && letterLike(kinds[k + 1] & KIND)) ? -1 - k : k + 1;
  return k;
}
function wordEnd(codes, kinds, i, m) {
  let before = kinds[i] & KIND, j = i + 1;
  while (j < m) {
    const kind = kinds[j] & KIND;
    if (letterLike(kind)) { if (kind !== EXTEND) before = kind; j++; continue; }
    const after = j + 1 < m ? kinds[j + 1] & KIND : SPACE;
    if ((codes[j] === 46 || codes[j] === 44) && before === DIGIT && after === DIGIT) j++;
    else if (apostrophe(codes[j]) && before === WORD && after === WORD) {
      if (lettersAfter(kinds, j + 1, m) <= SHORT) return j;
      j++;
      if (j - i - 1 <= SHORT) return j;
    } else return j;
  }
  return j;
}
function otherEnd(codes, kinds, i, m) {
  const kind = kinds[i] & KIND;
  let j = i + 1;
  if (kind === PUNCTUATION) {
    const clitic = apostrophe(codes[i]) && i > 0 && [WORD, EXTEND].includes(kinds[i - 1] & KIND);
    if (clitic && j < m && (kinds[j] & KIND) === WORD) { const n = lettersAfter(kinds, j, m); if (n <= SHORT) return j + n; }
    while (j < m && codes[j] === codes[i]) j++;
    return extended(kinds, j, m);
  }
  if (kind === SYMBOL) {
    const flag = c => c >= 0x1F1E6 && c <= 0x1F1FF;
    if (flag(codes[i]) && j < m && flag(codes[j])) j++;
    while (j < m && ((kinds[j] & KIND) === EXTEND || ((kinds[j] & KIND) === SYMBOL && codes[j - 1] === 0x200D))) j++;
    return j;
  }
  return extended(kinds, j, m);
}
// text as code points → [start, end, whether a sentence begins] of each token
function cutTokens(text, table) {
  const found = [], n = text.length;
  let char = 0, ended = 0, initial = false;
  while (char < n) {
    const codes = [], kinds = [];
    let space = char === 0, newlines = 0, first = char;
    while (char < n && codes.length < LONGEST) {
      const c = text[char], kind = table[c];
      if ((kind & KIND) === SPACE) {
        if (codes.length) break;
        space = true;
        if (c === 10) newlines++;
        first = ++char;
        continue;
      }
      codes.push(c);
      kinds.push(kind);
      char++;
    }
    const m = codes.length, has = c => codes.includes(c);
    if (!m) break;
    const scheme = has(58), www = codes.some(c => (c | 32) === 119), mail = has(64), dot = has(46);
    let noScheme = 0, noMail = 0, noAcronym = 0;
    for (let i = 0; i < m;) {
      const kind = kinds[i], own = kind & KIND;
      let j = -1;
      if (own === WORD || own === DIGIT) {
        if (scheme && i >= noScheme && asciiLetter(codes[i])) {
          j = schemeEnd(codes, i, m);
          if (j > 0) { const lo = j; j = addressEnd(codes, kinds, lo, m); if (j <= lo) j = -1; } else noScheme = -1 - j;
        }
        if (j < 0 && www && isWww(codes, i, m)) j = addressEnd(codes, kinds, i + 4, m);
        if (j < 0 && mail && i >= noMail) { j = mailEnd(codes, kinds, i, m); if (j < 0) noMail = -1 - j; }
        if (j < 0 && dot && i >= noAcronym) { j = acronymEnd(codes, kinds, i, m); if (j < 0) noAcronym = -1 - j; }
        if (j < 0) j = wordEnd(codes, kinds, i, m);
      } else j = own === EXTEND ? wordEnd(codes, kinds, i, m) : otherEnd(codes, kinds, i, m);
      const spaced = space && i === 0;
      let begins = false;
      if ((spaced && newlines > 1) || !found.length) { begins = true; ended = 0; }
      if (kind & TERMINAL) ended = initial && codes[i] === 46 ? 0 : codes[i] >= 128 && codes[i] !== 0x2026 ? 2 : 1;
      else if (!(kind & CLOSING && ended > 0 && !spaced)) {
        if (ended === 2 || (ended === 1 && spaced)) begins = kind & LOWER ? begins : true;
        ended = 0;
      }
      initial = j === i + 1 && own === WORD && !(kind & LOWER);
      found.push([first + i, first + j, begins]);
      i = j;
    }
  }
  return found;
}
