// The list of sessions, newest activity first.

import { ago, commandLine, holderLine, stateText, title, tone, turnCount } from './view.js';

const ageInterval = 15_000; // ms between updates of "3 min"

function make(tag, className, text = '') {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

/** A List knows all sessions and shows those that match its filter. */
export class List {
  #nav;
  #sessions = new Map(); // id -> session
  #items = new Map(); // id -> <li>
  #changes = new Map(); // id -> when change() was called for it last, in calls
  #clock = 0; // calls of change()
  #selected = null;
  #filter = '';

  constructor(nav) {
    this.#nav = nav;
    nav.addEventListener('keydown', (event) => this.#walk(event));
    setInterval(() => this.#draw(), ageInterval);
  }

  get size() {
    return this.#sessions.size;
  }

  get(id) {
    return this.#sessions.get(id);
  }

  /** The most recently active session. */
  first() {
    return this.#sorted()[0];
  }

  /** The session that the server's short endpoints act on. */
  bound() {
    return this.#sorted().find((session) => session.bound);
  }

  /** A point in time, for replace(). */
  get clock() {
    return this.#clock;
  }

  /** Takes in an answer that was asked for at a point in time: what has changed since is known better. */
  replace(sessions, asked) {
    const known = this.#sessions;
    this.#sessions = new Map(sessions.map((session) => [session.id, session]));
    for (const [id, changed] of this.#changes) {
      if (changed <= asked) {
        continue;
      }
      if (known.has(id)) {
        this.#sessions.set(id, known.get(id));
      } else {
        this.#sessions.delete(id);
      }
    }
    this.#draw();
  }

  /** Takes in one changed, new or deleted session. */
  change(session) {
    this.#changes.set(session.id, ++this.#clock);
    if (session.deleted) {
      this.#sessions.delete(session.id);
    } else {
      this.#sessions.set(session.id, session);
    }
    this.#draw();
  }

  select(id) {
    this.#selected = id;
    this.#draw();
  }

  set filter(text) {
    this.#filter = text.trim().toLowerCase();
    this.#draw();
  }

  /** Puts the focus on the selected session, or on the first. */
  focus() {
    (this.#nav.querySelector('[aria-current]') ?? this.#nav.querySelector('a'))?.focus();
  }

  /** The session whose item has the focus. */
  focused() {
    return this.get(document.activeElement?.closest('#side a')?.hash.slice(1));
  }

  #sorted() {
    const time = (session) => session.active_at ?? session.created_at ?? '';
    return [...this.#sessions.values()].sort((a, b) => time(b).localeCompare(time(a)) || a.id.localeCompare(b.id));
  }

  #draw() {
    const shown = this.#sorted().filter((session) => this.#matches(session));
    const list = this.#nav.querySelector('ul');
    const items = shown.map((session) => this.#item(session));
    if (items.length !== list.children.length || items.some((item, i) => list.children[i] !== item)) {
      const focused = list.contains(document.activeElement) ? document.activeElement : null;
      list.replaceChildren(...items);
      focused?.focus();
    }
    for (const id of this.#items.keys()) {
      if (!this.#sessions.has(id)) {
        this.#items.delete(id);
      }
    }
    const none = this.#nav.querySelector('.none');
    none.hidden = shown.length > 0;
    none.textContent = this.#sessions.size ? 'No session matches. Escape shows all.' : 'No sessions yet.';
  }

  #matches(session) {
    return `${title(session)} ${commandLine(session)} ${session.state} ${session.id}`.toLowerCase().includes(this.#filter);
  }

  /** The item of a session: made once, so that focus and hover stay. */
  #item(session) {
    let item = this.#items.get(session.id);
    if (!item) {
      item = make('li', '');
      const link = make('a', 'session');
      link.href = `#${session.id}`;
      link.append(make('span', 'dot'), make('span', 'title'), make('span', 'age'), make('span', 'program'), make('span', 'state'), make('span', 'holder'));
      item.append(link);
      this.#items.set(session.id, item);
    }
    const link = item.firstChild;
    const set = (name, text) => {
      const element = link.querySelector(name);
      if (element.textContent !== text) {
        element.textContent = text;
      }
    };
    link.dataset.tone = tone(session);
    if (session.id === this.#selected) {
      link.setAttribute('aria-current', 'true');
    } else {
      link.removeAttribute('aria-current');
    }
    set('.title', title(session));
    set('.age', ago(session.active_at ?? session.created_at));
    set('.program', commandLine(session));
    set('.state', [stateText(session), turnCount(session), session.bound && 'bound'].filter(Boolean).join(' · '));
    set('.holder', holderLine(session));
    return item;
  }

  #walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' && event.target.matches('input[type=search]')) {
      event.target.value = this.filter = '';
      this.focus();
      return;
    }
    if (!step) {
      return;
    }
    const links = [...this.#nav.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
    event.preventDefault();
  }
}
