// What a person is told about what was typed or pasted.

import { dismiss, notify } from './notices.js';
import { size, title } from './view.js';

/** Says why nothing can be typed, and what can be done. act(name) does what a button of that name does. */
export function cannotType(session, act) {
  const [reason, label, name] = session.holder
    ? ['can only be read here: another process has it', 'Fork', 'fork']
    : ['is not running: resume it to type', 'Resume', 'resume'];
  notify('input', `${title(session)} ${reason}.`, { actions: [[label, () => act(name)]] });
}

/** Tells, once in a browser, how to copy or paste: the key with code has gone to the program. */
export function tellOfClipboardKeys(code) {
  if (localStorage.getItem('clipboard-keys') === 'told' || /^Mac/.test(navigator.platform)) { // those have another key
    return;
  }
  localStorage.setItem('clipboard-keys', 'told');
  const [letter, does] = code === 'KeyV' ? ['V', 'pastes'] : ['C', 'copies'];
  notify('clipboard', `Ctrl ${letter} went to the program. Ctrl Shift ${letter} ${does}.`);
}

/** Tells of a report of a Sender. act(name) does what a button of that name does. */
export function tell({ kind, written, left, sent, total, error, keys }, sender, act) {
  switch (kind) {
    case 'retrying':
      notify('sending', 'No answer from the server: what you typed waits and is sent again.');
      break;
    case 'sent':
      dismiss('sending');
      break;
    case 'pasting':
      notify('paste', `Pasting ${size(total)}`, { progress: sent / total, close: ['Cancel', () => sender.cancel()] });
      break;
    case 'pasted':
      dismiss('paste');
      break;
    case 'stuck':
      notify('input', `${stuck(error)} Typed: ${size(written)}; waiting: ${size(left)}.`, {
        actions: [['Send the rest', () => sender.resume()]], close: ['Drop the rest', () => sender.discard()],
      });
      break;
    case 'outlived':
      dismiss('sending');
      if (keys) {
        const were = keys === 1 ? '1 key was' : `${keys} keys were`;
        notify('outlived', `${were} typed for a program that has ended; ${keys === 1 ? 'it was' : 'they were'} not sent.`);
      }
      break;
    case 'refused':
      refused(error, act);
  }
}

const stuck = ({ kind }) => (kind === 'queue-full'
  ? 'Too much waits to be read by the program already.'
  : 'The program does not read what is typed. It may be busy, or stopped.');

function refused({ kind, message }, act) {
  const [advice, ...actions] = {
    'held': ['', ['Fork', () => act('fork')]],
    'not-live': ['', ['Resume', () => act('resume')]],
    'line-too-long': ['. This program reads whole lines: type shorter ones, or paste into an editor.'],
  }[kind] ?? [''];
  notify('input', `Not typed: ${message}${advice}`, { tone: 'failed', actions });
}
