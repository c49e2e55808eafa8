// The questions that the page asks.

import { ago, visible } from './view.js';
import { words } from './words.js';

/**
 * Opens a dialog. accept() is called for each try to submit it; the dialog
 * stays open, with the reason, if that fails. inputs has those that a problem
 * document can name, by its name for them. warning is told before any try.
 * Returns when it is closed.
 */
function open(dialog, inputs, accept, warning = '') {
  const form = dialog.querySelector('form');
  const error = dialog.querySelector('.error');
  const submit = form.querySelector('button.primary');
  const clear = () => {
    error.hidden = true;
    Object.values(inputs).forEach((input) => input.removeAttribute('aria-invalid'));
  };
  clear();
  error.textContent = warning;
  error.hidden = warning === '';
  form.querySelector('[value=cancel]').onclick = () => dialog.close();
  form.onsubmit = async (event) => {
    event.preventDefault();
    clear();
    submit.disabled = true;
    try {
      await accept();
      dialog.close();
    } catch (reason) {
      const { field } = reason.problem ?? {};
      const input = inputs[field];
      error.textContent = input ? reason.message.replace(field, input.labels[0].textContent) : reason.message;
      error.hidden = false;
      input?.setAttribute('aria-invalid', 'true');
      input?.focus();
    } finally {
      submit.disabled = false;
    }
  };
  dialog.showModal();
  dialog.scrollTop = 0; // the focus may be far below
  return new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
}

const byId = (id) => document.getElementById(id);

/** Lets a profile or a command line be chosen. It returns a function for the members of a spec. */
function chooseProgram(profile, command, { names }) {
  profile.replaceChildren(new Option('none: a command line', ''), ...names.map((name) => new Option(name)));
  const noCommand = () => (command.disabled = profile.value !== '');
  profile.onchange = noCommand;
  noCommand();
  return () => (profile.value ? { profile: profile.value } : { argv: words(command.value || command.placeholder) });
}

/** Asks what to start. create(spec) starts it; its failure is shown. */
export function askNew(profiles, create) {
  const [profile, command, folder, called] = ['profile', 'command', 'folder', 'called'].map(byId);
  const program = chooseProgram(profile, command, profiles);
  called.value = '';
  return open(byId('create'), { profile, argv: command, cwd: folder, name: called }, () => {
    const rest = { cwd: folder.value.trim(), name: called.value.trim() };
    return create({ ...program(), ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== '')) });
  }, profiles.mistake);
}

/** Asks what a session goes on with. */
export function askSwitch(title, profiles, accept) {
  const [profile, command] = ['switch-profile', 'switch-command'].map(byId);
  byId('switch-title').textContent = title;
  const program = chooseProgram(profile, command, profiles);
  return open(byId('switch'), { profile, argv: command }, () => accept(program()), profiles.mistake);
}

/**
 * Asks for one of the turns that were typed, newest first, and for a name,
 * without which the server gives one.
 * whole says what to call the end of the output, which accept() gets as the
 * turn undefined; '' leaves it out. oldest is the first byte that there is.
 */
export function askTurn({ title, text, action, legend, whole, turns, oldest }, accept) {
  const dialog = byId('turns');
  const label = byId('turns-name');
  byId('turns-title').textContent = title;
  dialog.querySelector('p').textContent = text;
  dialog.querySelector('legend').textContent = legend;
  dialog.querySelector('button.primary').textContent = action;
  label.value = '';
  const choices = turns.toReversed().map((turn) => choice(turn.turn, visible(turn.preview) || '(no text)', turn.at < oldest ? 'removed' : ago(turn.time), turn.at < oldest));
  if (whole) {
    choices.unshift(choice('', whole, '', false));
  }
  const list = dialog.querySelector('.choices');
  list.replaceChildren(...choices);
  const first = list.querySelector('input:enabled');
  first.checked = true;
  first.autofocus = true;
  const fields = { name: label };
  return open(dialog, fields, () => {
    const { value } = list.querySelector(':checked');
    return accept({ ...(value && { turn: Number(value) }), ...(label.value.trim() && { name: label.value.trim() }) });
  });
}

function choice(value, text, when, disabled) {
  const label = document.createElement('label');
  const input = Object.assign(document.createElement('input'), { type: 'radio', name: 'turn', value, disabled });
  const what = document.createElement('span');
  what.textContent = text;
  what.className = value ? 'typed' : '';
  const time = document.createElement('small');
  time.textContent = when;
  label.append(input, what, time);
  return label;
}

/** Asks for text to paste. */
export function askPaste(accept) {
  const text = byId('paste').querySelector('textarea');
  text.value = '';
  return open(byId('paste'), {}, () => accept(text.value));
}

/** Shows text to copy, all or what is selected of it; fingers and keys cannot select in the terminal. */
export function showText(text) {
  const area = byId('copy').querySelector('textarea');
  area.value = text;
  const closed = open(byId('copy'), {}, () => {
    area.focus();
    if (area.selectionStart === area.selectionEnd) {
      area.select();
    }
    document.execCommand('copy'); // the clipboard object needs a secure context
  });
  area.setSelectionRange(text.length, text.length);
  area.scrollTop = area.scrollHeight;
  return closed;
}

/** Shows the keys. */
export const showHelp = () => open(byId('help'), {}, () => {});

/** Asks before something is done that cannot be undone. */
export function confirm(title, text, action, accept) {
  return ask({ title, text, action, danger: true }, accept);
}

/** Asks for a name. */
export function askName(title, action, name, accept) {
  return ask({ title, text: '', action, name }, accept);
}

function ask({ title, text, action, danger = false, name = null }, accept) {
  const dialog = byId('ask');
  const [heading, paragraph, label, answer, button] =
    ['h2', 'p', 'label', 'input', 'button.primary'].map((part) => dialog.querySelector(part));
  heading.textContent = title;
  paragraph.textContent = text;
  paragraph.hidden = text === '';
  label.hidden = answer.hidden = name === null;
  answer.value = name ?? '';
  button.textContent = action;
  button.classList.toggle('danger', danger);
  return open(dialog, name === null ? {} : { name: answer }, () => accept(answer.value.trim()));
}
