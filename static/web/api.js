// Requests to the server, and what it says when it refuses one.

/** An answer that is not a success. `problem` is the problem document, or {}. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
  }

  /** The kind of problem, as docs/api.md lists them; '' for none of these. */
  get kind() {
    return this.problem.type?.split(':')[2] ?? '';
  }
}

async function request(method, path, { body, headers, ...options } = {}) {
  const response = await fetch(path, { method, body, headers, cache: 'no-store', ...options });
  const text = await response.text();
  let value = {};
  if (/json/.test(response.headers.get('Content-Type') ?? '')) {
    value = JSON.parse(text);
  }
  if (!response.ok) {
    throw new ApiError(response.status, value);
  }
  return value;
}

const json = (method, path, value) =>
  request(method, path, { body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } });

const at = (id, rest = '') => `sessions/${encodeURIComponent(id)}${rest}`;

export const login = (token) => json('POST', 'login', { token });
export const sessions = async () => (await request('GET', 'sessions')).sessions;
export const profiles = async () => Object.keys((await request('GET', 'profiles')).profiles).sort();
export const create = (spec) => json('POST', 'new', spec);
export const resume = (id) => json('POST', 'resume', { id });
export const fork = (id, spec) => json('POST', 'fork', { id, ...spec });
export const switchTo = (id, spec) => json('POST', at(id, '/switch'), spec);
export const turns = async (id) => (await request('GET', at(id, '/turns'))).turns;
export const stop = (id) => request('POST', at(id, '/stop'));
export const rename = (id, name) => json('PATCH', at(id), { name });
export const remove = (id) => request('DELETE', at(id));
export const resize = (id, cols, rows) => json('POST', at(id, '/resize'), { cols, rows });

/**
 * Types bytes into a session. A repeat with the same key types nothing new, so
 * a caller that got no answer may repeat. It outlives the page (keepalive).
 */
export const input = (id, bytes, key) =>
  request('POST', at(id, '/input'), {
    body: bytes,
    headers: { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key },
    keepalive: true,
    signal: AbortSignal.timeout(20_000), // the server itself gives up after 10 s
  });

/**
 * The address of the event stream of a session, or of the store without one.
 * It begins at a place in the output, or else with a tail: of that many bytes,
 * or of the server's choice for null. terminal tells that the one who reads it
 * can answer the program.
 */
export function eventsURL(id, { from = null, tail = null, terminal = false }) {
  const query = new URLSearchParams({ watch: 1, ...(from !== null ? { from } : tail && { tail }), ...(terminal && { terminal: 1 }) });
  return id ? `${at(id, '/events')}?${query}` : 'events?watch=1';
}

/** The address of all the output that there is, as bytes. */
export const outputURL = (id) => at(id, '/output');

/** Asks whether an event stream can begin; an EventSource does not tell why not. */
export const tryEvents = (id, from) => request('HEAD', eventsURL(id, { from }));

/**
 * Takes the token out of the address, so that neither the address bar nor the
 * history keeps it, and returns it, or null if there is none.
 */
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) {
    history.replaceState(null, '', location.pathname + location.search);
  }
  return token;
}
