// Answers come from the models inside this page.
const PAGE = JSON.parse(document.getElementById('data').textContent);
const UNICODE = {letters: spread(PAGE.letters), kinds: spread(PAGE.kinds)};
const backend = {
  engines: PAGE.models.map(model => new Engine(model, UNICODE)),
  async models() { return this.engines.map(e => ({name: e.name, version: e.version, labels: e.labels, class: e.class, n_weights: e.n_weights, task: 'tagging', reads_text: true})); },
  async tag(body) { return this.engines.find(e => e.name === body.model && e.version === body.version).tag(body); },
  about: 'The model runs in this page; nothing is sent anywhere.',
};
