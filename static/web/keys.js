// The page's own keys. The dialog #help tells of them. Outside the terminal
// they are single letters, so they only count in the list of sessions.

import { can } from './actions.js';

const ofSession = { r: 'resume', s: 'stop', f: 'fork', b: 'rewind', p: 'switch', F2: 'rename', Delete: 'delete' };
const always = { n: 'new', '?': 'help' };

/**
 * Listens for the keys. page has leave() for the list, find() for the search,
 * filter() for the filter, focused() for the session whose item has the
 * focus, and press(name, session).
 */
export function listenForKeys(side, page) {
  document.addEventListener('keydown', (event) => {
    const name = event.ctrlKey && event.shiftKey && { KeyE: 'leave', KeyF: 'find' }[event.code];
    if (name && !document.querySelector('dialog[open]')) {
      event.preventDefault();
      page[name]();
    }
  });
  side.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest('#filter')) {
      return;
    }
    const { key } = event;
    const session = page.focused();
    if (key === '/') {
      page.filter();
    } else if (always[key]) {
      page.press(always[key], session);
    } else if (session && ofSession[key] && can(ofSession[key], session)) {
      page.press(ofSession[key], session);
    } else {
      return;
    }
    event.preventDefault();
  });
}
