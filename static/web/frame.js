// What is drawn around the terminal. Nothing is decided here.

import { can } from './actions.js';
import { mark } from './tab.js';
import { commandLine, holderLine, stateText, title, tone, visible } from './view.js';

export const $ = (selector) => document.querySelector(selector);

const patience = 700; // ms before an interruption is worth a word

/** Shows one of 'loading', 'login' and 'main'. */
export function show(view) {
  document.body.dataset.view = view;
  $('#loading').hidden = view !== 'loading';
  $('#login').hidden = view !== 'login';
}

/** Asks for the token, and says why if there is a reason. */
export function drawLogin(reason) {
  show('login');
  const error = $('#login .error');
  error.textContent = reason;
  error.hidden = reason === '';
  draw(null);
  $('#token').focus();
}

/** Covers the terminal, which keeps its place: a new session is made as large as it. */
export function cover(on) {
  $('#empty').hidden = !on;
  $('#head').inert = $('#stage').inert = $('#keys').inert = on;
  $('#holder').hidden ||= on;
}

/** Shows what takes the place of a terminal while no session is selected. */
export function drawEmpty(sessions) {
  cover(true);
  $('#empty h2').textContent = sessions ? 'No session selected' : 'No sessions yet';
  $('#empty p').textContent = sessions
    ? 'Choose one from the list, or start a new one.'
    : 'A session runs a program that goes on when this page is closed. Start a shell to begin.';
  draw(null);
}

/** Shows what is known of the selected session, and offers what can be done with it. */
export function drawHead(session) {
  $('#head').dataset.tone = tone(session);
  $('#name').textContent = title(session);
  const size = session.cols ? `${session.cols}×${session.rows}` : '';
  const facts = [stateText(session), session.storage_error, commandLine(session), visible(session.cwd ?? ''), size];
  $('#about').textContent = $('#about').title = facts.filter(Boolean).join(' · ');
  for (const button of document.querySelectorAll('#head [data-do], #menu [data-do]')) {
    button.hidden = !can(button.dataset.do, session);
  }
  $('#holder').hidden = !session.holder;
  $('#holder p').textContent = session.holder ? `Read-only: ${holderLine(session)}. Type where it runs, or go on in a copy.` : '';
  $('#head [data-do=stop]').textContent = session.live ? 'Stop' : 'Do not resume';
  draw(session);
}

let drawn = null; // the session that the tab shows

function draw(session) {
  drawn = session;
  mark(session, document.body.classList.contains('stale'));
}

let link = null; // what is to be shown
let linkTimer = 0;

/**
 * Says how the stream is: its phase, whether the server is reachable, whether
 * typing is held, and whether it is paused for other windows, unless all is well or it is over in a moment. Without
 * a stream what is shown of sessions is marked as what was known last.
 */
export function drawLink(now) {
  link = now;
  const { phase } = link;
  if (phase === 'live' || phase === 'closed' || $('#link').textContent) {
    clearTimeout(linkTimer);
    linkTimer = 0;
    showLink();
  } else {
    linkTimer ||= setTimeout(showLink, patience);
  }
}

function showLink() {
  linkTimer = 0;
  const well = link.phase === 'live' || link.phase === 'closed';
  $('#link').textContent = well ? '' : linkText(link) + (link.held ? ' · typing is held' : '');
  document.body.classList.toggle('stale', !well && link.phase !== 'replaying');
  draw(drawn);
}

function linkText({ phase, reachable, paused }) {
  if (paused) return 'Paused while other windows are used';
  if (!navigator.onLine) return 'Offline';
  if (phase === 'replaying') return 'Catching up…';
  return reachable ? 'Reconnecting…' : 'Server not reachable';
}
