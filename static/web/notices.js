// Lines above the terminal that say what went wrong, and offer what can be done.

const notices = () => document.getElementById('notices');
const find = (key) => [...notices().children].find((notice) => notice.dataset.key === key);

/**
 * Shows a notice in place of the one with the same key. Actions are
 * [label, function] pairs, and so is close; each also takes the notice away.
 * progress is the part of it that is done, 0 to 1.
 */
export function notify(key, text, { actions = [], close = ['Dismiss', () => {}], tone = 'attention', progress = null } = {}) {
  const shown = find(key);
  if (shown?.firstChild.textContent === text) { // not read out again
    shown.querySelector('progress')?.setAttribute('value', progress);
    return;
  }
  const notice = document.createElement('div');
  notice.className = 'notice';
  notice.dataset.key = key;
  notice.dataset.tone = tone;
  const line = document.createElement('p');
  line.textContent = text;
  notice.append(line);
  if (progress !== null) {
    const bar = document.createElement('progress');
    bar.setAttribute('value', progress);
    bar.setAttribute('aria-label', text);
    notice.append(bar);
  }
  for (const [label, act] of [...actions, close]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', () => {
      notice.remove();
      act();
    });
    notice.append(button);
  }
  dismiss(key);
  notices().append(notice);
}

export function dismiss(key) {
  find(key)?.remove();
}

export function dismissAll() {
  notices().replaceChildren();
}
