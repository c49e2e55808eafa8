// Lines above the terminal that say what went wrong, and offer what can be done.

const notices = () => document.getElementById('notices');

/**
 * Shows a notice in place of the one with the same key. Actions are
 * [label, function] pairs; each also takes the notice away.
 */
export function notify(key, text, { actions = [], tone = 'attention' } = {}) {
  if ([...notices().children].some((notice) => notice.dataset.key === key && notice.firstChild.textContent === text)) {
    return; // not read out again
  }
  dismiss(key);
  const notice = document.createElement('div');
  notice.className = 'notice';
  notice.dataset.key = key;
  notice.dataset.tone = tone;
  const line = document.createElement('p');
  line.textContent = text;
  notice.append(line);
  for (const [label, act] of [...actions, ['Dismiss', () => {}]]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    button.addEventListener('click', () => {
      notice.remove();
      act();
    });
    notice.append(button);
  }
  notices().append(notice);
}

export function dismiss(key) {
  for (const notice of notices().children) {
    if (notice.dataset.key === key) {
      notice.remove();
      return;
    }
  }
}

export function dismissAll() {
  notices().replaceChildren();
}
