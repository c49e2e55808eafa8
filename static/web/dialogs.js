// The questions that the page asks.

import { words } from './words.js';

/**
 * Opens a dialog. accept() is called for each try to submit it; the dialog
 * stays open, with the reason, if that fails. inputs has those that a problem
 * document can name, by its name for them. Returns when it is closed.
 */
function open(dialog, inputs, accept) {
  const form = dialog.querySelector('form');
  const error = dialog.querySelector('.error');
  const submit = form.querySelector('button.primary');
  const clear = () => {
    error.hidden = true;
    Object.values(inputs).forEach((input) => input.removeAttribute('aria-invalid'));
  };
  clear();
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
  return new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
}

/** Asks what to start. create(spec) starts it; its failure is shown. */
export function askNew(profiles, create) {
  const dialog = document.getElementById('create');
  const [profile, command, folder, called] = ['profile', 'command', 'folder', 'called'].map((id) => document.getElementById(id));
  profile.replaceChildren(new Option('none: a command line', ''), ...profiles.map((name) => new Option(name)));
  const noCommand = () => (command.disabled = profile.value !== '');
  profile.onchange = noCommand;
  noCommand();
  called.value = '';
  return open(dialog, { profile, argv: command, cwd: folder, name: called }, () => {
    const spec = { profile: profile.value, cwd: folder.value.trim(), name: called.value.trim() };
    if (!spec.profile) {
      spec.argv = words(command.value || command.placeholder);
    }
    return create(Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== '')));
  });
}

/** Asks before something is done that cannot be undone. */
export function confirm(title, text, action, accept) {
  return ask({ title, text, action, danger: true }, accept);
}

/** Asks for a name. */
export function askName(title, action, name, accept) {
  return ask({ title, text: '', action, name }, accept);
}

function ask({ title, text, action, danger = false, name = null }, accept) {
  const dialog = document.getElementById('ask');
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
