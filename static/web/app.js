// The page: login, the list, the session that is shown, and what can be done
// with it.

import { act } from './actions.js';
import * as api from './api.js';
import { Attached } from './attached.js';
import { Binding } from './binding.js';
import { $, cover, drawEmpty, drawHead, drawLink, drawLogin, show } from './frame.js';
import { KeyBar } from './keybar.js';
import { listenForKeys } from './keys.js';
import { List } from './list.js';
import { placeMenu } from './menu.js';
import { dismiss, dismissAll, notify } from './notices.js';
import { Search } from './search.js';
import { narrow } from './size.js';
import { keepInView } from './viewport.js';
import { Windows } from './windows.js';

const again = 3000; // ms between tries to reach the server at first

const list = new List($('#side'));
let selected = null; // id of the session that is shown
let mine = null; // id of the session that was made for this window last
let attached = null; // Attached, once logged in
let reachable = true;

const screen = () => attached.screen;
const windows = new Windows(mayStream);
const search = new Search($('#search'), screen);
const keyBar = new KeyBar($('#keys'), screen, (text) => attached.type(text));
const binding = new Binding($('#follow'), go, () => location.hash.slice(1));

/** For the console, extensions and tests; with it goes the event holdfast:output on document. */
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
  get answers() {
    return attached?.stream.answers;
  },
  get screen() {
    return attached?.screen;
  },
};

function showLogin(reason) {
  attached?.stream.close();
  drawLogin(reason);
}

/** Shows what the list knows of the selected session. */
function drawSelected() {
  const session = list.get(selected);
  if (session) {
    attached.update(session);
    drawHead(session);
  } else {
    drawEmpty(list.size);
  }
}

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
    drawStream();
  }
  if (selected && !list.get(selected)) {
    gone();
    return false;
  }
  if (attached) {
    drawSelected();
    binding.saw(list.bound());
  }
  return true;
}

function drawStream() {
  if (attached) {
    drawLink({ phase: attached.phase, reachable, held: attached.held, paused: !windows.turn });
  }
}

/** Has the stream sleep while nobody sees it, and while other windows need theirs more. */
function mayStream() {
  const asleep = document.hidden || !windows.turn;
  if (attached && asleep !== attached.stream.asleep) {
    attached.stream.asleep = asleep;
    drawStream();
  }
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
  search.hide();
  selected = session ? id : null;
  list.select(selected);
  showList(listShows() && !narrow.matches);
  cover(!session);
  attached.attach(session ?? null, session?.id === mine);
  mine = null;
  drawSelected();
  if (session) {
    attached.focus();
  } else if (id) {
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
  if (change.id === selected && change.deleted) {
    gone();
  } else if (change.id === selected || !selected) {
    drawSelected();
  }
  binding.saw(list.bound());
}

/** Selects what the address names, or else what one would expect. */
function route() {
  const id = location.hash.slice(1);
  if (id) {
    select(id);
    return;
  }
  const bound = list.bound();
  const session = bound?.live ? bound : list.first(); // a switch, or a stop, leaves a dead one bound
  if (session) {
    history.replaceState(null, '', `#${session.id}`);
  }
  select(session?.id ?? null);
}

/** Shows a session; forWindow tells that it was made for this window. */
function go(id, forWindow = false) {
  mine = forWindow ? id : null;
  if (location.hash === `#${id}`) {
    select(id);
  } else {
    location.hash = id; // and route() selects it
  }
}

const page = {
  changed,
  go,
  focus: () => attached?.focus(),
  fit: () => attached?.fit(),
  find: () => search.open(),
  text: () => screen().all(),
  earlier: () => attached?.earlier(),
  room: () => attached?.room() ?? {}, // before the emulator is loaded the server chooses
};

/** Does one of the actions with a session. */
async function press(name, session = list.get(selected)) {
  dismiss('action');
  try {
    await binding.during(() => act(name, page, session));
    binding.saw(list.bound());
  } catch (error) {
    if (error.status === 401) {
      showLogin('The server wants a new login.');
    } else {
      const text = error.status ? error.message : 'The server did not answer. Try again when the connection is back.';
      notify('action', text, { tone: 'failed' });
    }
  }
}

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
  binding.begin(list.bound());
  route();
}

async function attach() {
  const { Screen } = await import('./term.js').catch(() => import('./plain.js'));
  const view = new Attached($('#pane'), $('#earlier'), Screen, {
    session: changed,
    sessions: changed,
    check,
    held: drawStream,
    act: press,
    modify: (bytes) => keyBar.modify(bytes),
    found: (index, count) => search.found(index, count),
    login: () => showLogin('The server wants a new login.'),
    phase: (name) => {
      drawStream();
      if (name === 'replaying') {
        refresh().catch(() => {}); // what changed while there was no stream
      }
    },
  });
  view.stream.asleep = document.hidden || !windows.turn;
  $('#spoken').checked = view.screen.spoken = localStorage.getItem('spoken') === 'yes';
  return view;
}

/** Has what is printed read out, here and in later visits. */
function speak({ target }) {
  screen().spoken = target.checked;
  localStorage.setItem('spoken', target.checked ? 'yes' : 'no');
}

const listShows = () => (narrow.matches ? document.body.classList.contains('list-open') : !document.body.classList.contains('list-closed'));

/** Shows or hides the list; on a narrow screen it covers the terminal. */
function showList(on) {
  document.body.classList.toggle('list-open', on);
  document.body.classList.toggle('list-closed', !on && !narrow.matches);
  $('#toggle').setAttribute('aria-expanded', on);
}

function listen() {
  addEventListener('hashchange', () => {
    const token = api.takeToken();
    if (token !== null) {
      enter(token); // the server's address, put over that of this page
    } else if (attached) {
      route();
    }
  });
  addEventListener('pageshow', ({ persisted }) => persisted && attached?.stream.reopen());
  addEventListener('online', () => attached?.stream.hurry());
  addEventListener('offline', drawStream);
  document.addEventListener('visibilitychange', mayStream);
  for (const button of document.querySelectorAll('[data-do]')) {
    button.addEventListener('click', () => press(button.dataset.do));
  }
  listenForKeys($('#side'), {
    leave: () => {
      showList(true);
      list.focus();
    },
    find: () => selected && search.open(),
    filter: () => $('#filter').focus(),
    focused: () => list.focused(),
    press,
  });
  placeMenu($('#menu'), $('#more'));
  keepInView(document.body);
  $('#filter').addEventListener('input', (event) => (list.filter = event.target.value));
  $('#side').addEventListener('click', (event) => {
    if (event.target.closest('a')?.hash === location.hash) {
      select(selected); // the address does not change, so that route() is not called
    }
  });
  $('#toggle').addEventListener('click', () => showList(!listShows()));
  $('#spoken').addEventListener('change', speak);
  $('#login form').addEventListener('submit', (event) => {
    event.preventDefault();
    const token = $('#token').value.trim().replace(/^.*#token=/, ''); // or the line that has it
    $('#token').value = '';
    enter(token);
  });
}

listen();
enter(api.takeToken());
