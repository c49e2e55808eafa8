// The tab's title and icon tell the state of the session that is shown.

import { stateText, title, tone } from './view.js';

const colours = { running: '#3fa34d', idle: '#5b8db8', attention: '#d08700', off: '#8a939e', failed: '#c8372d' };
const signs = { running: '●', idle: '○', attention: '▲', off: '■', failed: '✕' };

/** Shows a session in the tab; null: none. stale: that is how it was seen last. */
export function mark(session, stale) {
  const kind = session && !stale ? tone(session) : 'off';
  document.title = session ? `${stale ? '…' : signs[kind]} ${title(session)}: ${stale ? 'last seen ' : ''}${stateText(session)} · holdfast` : 'holdfast';
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="1" y="2" width="14" height="12" rx="2.5" fill="#1b2027"/>
<path d="M4 6l2.5 2L4 10" stroke="#e6e9ee" stroke-width="1.5" fill="none"/><circle cx="11" cy="10" r="2.6" fill="${colours[kind]}"/></svg>`;
  document.querySelector('link[rel=icon]').href = `data:image/svg+xml,${encodeURIComponent(icon)}`;
}
