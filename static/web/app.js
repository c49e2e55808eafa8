// The page: login, the list, the session that is shown, and what can be done
// with it.

import * as api from './api.js';
import { Attached } from './attached.js';
import { askName, askNew, confirm } from './dialogs.js';
import { List } from './list.js';
import { dismiss, dismissAll, notify } from './notices.js';
import { mark } from './tab.js';
import { commandLine, holderLine, isLive, stateText, title, tone } from './view.js';

const $ = (selector) => document.querySelector(selector);

const patience = 700; // ms before an interruption is worth a word
const again = 3000; // ms between tries to reach the server at first

const list = new List($('#side'));
let selected = null; // id of the session that is shown
let attached = null; // Attached, once logged in
let reachable = true;

/** For scripts beside the page, as docs/ has it. Events: holdfast:output on document. */
window.holdfast = {
  get session() {
    return list.get(selected);
  },
  get cursor() {
    return attached?.stream.cursor;
  },
  get phase() {
    return attached?.stream.phase;
  },
  get screen() {
    return attached?.screen;
  },
};

// ---- views ----

/** Shows one of 'loading', 'login' and 'main'. */
function show(view) {
  document.body.dataset.view = view;
  $('#loading').hidden = view !== 'loading';
  $('#login').hidden = view !== 'login';
}

function showLogin(reason = '') {
  attached?.stream.close();
  show('login');
  const error = $('#login .error');
  error.textContent = reason;
  error.hidden = reason === '';
  mark(null);
  $('#token').focus();
}

/** Covers the terminal, which keeps its place: a new session is made as large as it. */
function cover(on) {
  $('#empty').hidden = !on;
  $('#head').inert = $('#pane').inert = on;
}

/** Shows what takes the place of a terminal while no session is selected. */
function drawEmpty() {
  cover(true);
  $('#empty h2').textContent = list.size ? 'No session selected' : 'No sessions yet';
  $('#empty p').textContent = list.size
    ? 'Choose one from the list, or start a new one.'
    : 'A session runs a program that goes on when this page is closed. Start a shell to begin.';
  mark(null);
}

function drawHead() {
  const session = list.get(selected);
  if (!session) {
    return;
  }
  $('#head').dataset.tone = tone(session);
  $('#name').textContent = title(session);
  const size = session.cols ? `${session.cols}×${session.rows}` : '';
  $('#about').textContent = $('#about').title = [stateText(session), session.storage_error, holderLine(session), commandLine(session), session.cwd, size].filter(Boolean).join(' · ');
  const can = {
    resume: !isLive(session), fit: session.live, stop: session.live || session.state === 'interrupted',
    fork: true, rename: true, delete: !session.holder,
  };
  for (const button of $('#head').querySelectorAll('[data-do]')) {
    button.hidden = !can[button.dataset.do];
  }
  mark(session);
}

let linkTimer = 0;

function drawLink() {
  clearTimeout(linkTimer);
  const phase = attached?.stream.phase;
  const link = $('#link');
  if (phase === 'live' || phase === 'closed' || document.body.dataset.view !== 'main') {
    link.textContent = '';
    return;
  }
  linkTimer = setTimeout(() => {
    if (!navigator.onLine) {
      link.textContent = 'Offline';
    } else if (!reachable) {
      link.textContent = 'Server not reachable, trying again…';
    } else {
      link.textContent = phase === 'replaying' ? 'Catching up…' : 'Reconnecting…';
    }
  }, patience);
}

// ---- sessions ----

/**
 * Reads the list anew. It tells whether to go on: false if the server wants a
 * login. It rejects if the server is not reachable.
 */
async function refresh() {
  try {
    const asked = list.clock;
    list.replace(await api.sessions(), asked);
    reachable = true;
  } catch (error) {
    if (error.status === 401) {
      showLogin(attached ? 'The server wants a new login.' : '');
      return false;
    }
    reachable = false;
    throw error;
  } finally {
    drawLink();
  }
  if (selected && !list.get(selected)) {
    gone();
    return false;
  }
  drawHead();
  return true;
}

/** Finds out why a stream failed, and tells whether to try it again. */
async function check() {
  if (!(await refresh())) {
    return false;
  }
  try {
    await api.tryEvents(selected, attached.stream.cursor);
  } catch (error) {
    if (error.status !== 416) {
      throw error;
    }
    // The log is shorter than what was shown: its end was lost with the machine's power.
    attached.attach(list.get(selected));
    attached.screen.note('the end of what was shown was lost; the output goes on before it');
  }
  return true;
}

function select(id) {
  const session = list.get(id);
  if (id === selected && session) {
    attached.focus();
    return;
  }
  dismissAll();
  selected = session ? id : null;
  list.select(selected);
  document.body.classList.remove('list-open');
  if (session) {
    cover(false);
    drawHead();
    attached.attach(session);
    attached.focus();
    return;
  }
  drawEmpty();
  attached.attach(null);
  if (id) {
    notify('gone', 'There is no such session any more.');
  }
}

/** The session that is shown was deleted, here or elsewhere. */
function gone() {
  history.replaceState(null, '', location.pathname + location.search);
  select(selected);
}

function changed(change) {
  list.change(change);
  if (!selected) {
    drawEmpty();
  } else if (change.id !== selected) {
    return;
  } else if (change.deleted) {
    gone();
  } else {
    attached.update(change);
    drawHead();
  }
}

/** Selects what the address names, or else what one would expect. */
function route() {
  const token = api.takeToken();
  if (token !== null) {
    enter(token);
    return;
  }
  const id = decodeURIComponent(location.hash.slice(1));
  if (id) {
    select(id);
    return;
  }
  const session = list.bound() ?? list.first();
  if (session) {
    history.replaceState(null, '', `#${session.id}`);
  }
  select(session?.id ?? null);
}

function go(id) {
  if (location.hash === `#${id}`) {
    select(id);
  } else {
    location.hash = id; // and route() selects it
  }
}

// ---- what can be done ----

/** The size that a new session is given: the window's, if it is known. */
function room() {
  const size = attached.screen.room() ?? {};
  attached.screen.layout();
  return size;
}

async function created(answer) {
  const session = await answer;
  list.change(session);
  go(session.id);
}

const actions = {
  new: async () => {
    const profiles = await api.profiles();
    await askNew(profiles, (spec) => created(api.create({ ...spec, ...room() })));
  },
  resume: async (session) => changed(await api.resume(session.id)),
  fit: async () => attached.fit(),
  stop: (session) =>
    confirm(`Stop ${title(session)}?`, session.live ? 'Its program is ended. The output stays, and it can be resumed.' : 'It will not be resumed by itself.',
      'Stop', async () => changed(await api.stop(session.id))),
  fork: (session) => askName(`Fork ${title(session)}`, 'Fork', `${title(session)} (copy)`,
    (name) => created(api.fork(session.id, name ? { name } : {}))),
  rename: (session) => askName(`Rename ${title(session)}`, 'Rename', session.name ?? '',
    async (name) => changed(await api.rename(session.id, name))),
  delete: (session) =>
    confirm(`Delete ${title(session)}?`, `Its output is removed for good${session.live ? ', and its program is ended' : ''}.`, 'Delete', async () => {
      await api.remove(session.id);
      changed({ id: session.id, deleted: true });
    }),
};

async function act(button) {
  const name = button.dataset.do;
  dismiss('action');
  button.disabled = true;
  try {
    await actions[name](list.get(selected));
  } catch (error) {
    if (error.status === 401) {
      showLogin('The server wants a new login.');
    } else {
      notify('action', error.message, { tone: 'failed' });
    }
  } finally {
    button.disabled = false;
  }
  if (name === 'resume' || name === 'fit') {
    attached.focus();
  }
}

// ---- start ----

/** Logs in with a token, or with the cookie from before, and shows the page. */
async function enter(token) {
  show('loading');
  try {
    if (token !== null) {
      await api.login(token);
    }
    selected = null;
    if (!(await refresh())) {
      return;
    }
  } catch (error) {
    if (error.status) {
      showLogin(error.status === 401 ? 'This token is not the server’s.' : error.message);
    } else {
      $('#loading').lastChild.textContent = 'The server is not reachable, trying again…';
      setTimeout(enter, again, token);
    }
    return;
  }
  show('main');
  attached ??= await attach();
  route();
}

async function attach() {
  const { Screen } = await import('./term.js').catch(() => import('./plain.js'));
  const view = new Attached($('#pane'), Screen, {
    session: changed,
    sessions: changed,
    check,
    login: () => showLogin('The server wants a new login.'),
    phase: (name) => {
      drawLink();
      if (name === 'replaying') {
        refresh().catch(() => {}); // what changed while there was no stream
      }
    },
  });
  view.stream.asleep = document.hidden;
  return view;
}

function listen() {
  addEventListener('hashchange', route);
  addEventListener('pageshow', ({ persisted }) => persisted && attached?.stream.reopen());
  addEventListener('online', () => attached?.stream.hurry());
  addEventListener('offline', drawLink);
  document.addEventListener('visibilitychange', () => {
    if (attached) {
      attached.stream.asleep = document.hidden;
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey && event.shiftKey && event.code === 'KeyE') {
      event.preventDefault();
      document.body.classList.add('list-open');
      list.focus();
    }
  });
  for (const button of document.querySelectorAll('[data-do]')) {
    button.addEventListener('click', () => act(button));
  }
  $('#filter').addEventListener('input', (event) => (list.filter = event.target.value));
  $('#side').addEventListener('click', (event) => {
    if (event.target.closest('a')?.hash === location.hash) {
      select(selected); // the address does not change, so that route() is not called
    }
  });
  $('#toggle').addEventListener('click', () => {
    const narrow = matchMedia('(max-width: 720px)').matches;
    const on = document.body.classList.toggle(narrow ? 'list-open' : 'list-closed');
    $('#toggle').setAttribute('aria-expanded', on === narrow);
  });
  $('#login form').addEventListener('submit', (event) => {
    event.preventDefault();
    const token = $('#token').value.trim();
    $('#token').value = '';
    enter(token);
  });
}

listen();
enter(api.takeToken());
