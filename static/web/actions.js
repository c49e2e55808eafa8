// What a person can do with sessions, by the name in a button's data-do.

import * as api from './api.js';
import { askName, askNew, askSwitch, askTurn, confirm, showHelp, showText } from './dialogs.js';
import { dismiss } from './notices.js';
import { isLive, title } from './view.js';

/** Goes to a session that was made; mine tells that it was made for this window. */
async function created(page, answer, mine = false) {
  const session = await answer;
  page.changed(session);
  page.go(session.id, mine);
}

/** Goes back to a turn in a fork, and ends what went on after it. */
async function rewound(page, session, spec) {
  const fork = await api.fork(session.id, spec);
  page.changed(fork);
  page.go(fork.id);
  if (session.live) {
    page.changed(await api.stop(session.id));
  }
}

const readable = (session) => session.state !== 'unreadable';

/** Whether each can be done with a session. */
const possible = {
  resume: (session) => !isLive(session) && readable(session),
  fit: (session) => Boolean(session.live),
  find: readable,
  copy: readable,
  earlier: readable,
  stop: (session) => Boolean(session.live || (session.state === 'interrupted' && session.auto_resume)),
  fork: readable,
  rewind: (session) => readable(session) && session.turns > 0 && !session.holder,
  switch: (session) => Boolean(session.live),
  rename: readable,
  delete: (session) => !session.holder,
};

/** The names of the profiles, and what is wrong with them: a command line needs none. */
async function profiles() {
  try {
    return { names: await api.profiles(), mistake: '' };
  } catch (error) {
    if (error.kind !== 'profiles-unreadable') {
      throw error;
    }
    return { names: [], mistake: error.message };
  }
}

const memory = 'At a turn it is the output that goes back: what an agent remembers by itself stays.';

const actions = {
  new: async (page) => {
    await askNew(await profiles(), (spec) => created(page, api.create({ ...spec, ...page.room() }), true));
  },
  help: () => showHelp(),
  resume: async (page, session) => {
    page.changed(await api.resume(session.id));
    page.go(session.id);
  },
  fit: async (page) => {
    page.fit();
    page.focus();
  },
  find: async (page) => page.find(),
  copy: (page) => showText(page.text()),
  earlier: async (page) => page.earlier(),
  stop: (page, session) => {
    const [question, text, action] = session.live
      ? [`Stop ${title(session)}?`, 'Its program is ended. The output stays, and it can be resumed.', 'Stop']
      : [`Do not resume ${title(session)}?`, 'No server starts it again by itself. It can still be resumed here.', 'Do not resume'];
    return confirm(question, text, action, async () => page.changed(await api.stop(session.id)));
  },
  fork: async (page, session) => {
    const turns = session.turns ? await api.turns(session.id) : [];
    await askTurn({
      title: `Fork ${title(session)}`, text: `A new session with a copy of the output, and a program of its own. This one is left alone.${turns.length ? ` ${memory}` : ''}`, action: 'Fork',
      legend: 'Copy up to', whole: 'the end, as it is now', turns, oldest: session.oldest,
    }, (spec) => created(page, api.fork(session.id, spec)));
  },
  rewind: async (page, session) => {
    const turns = await api.turns(session.id);
    if (!turns.some(({ at }) => at >= session.oldest)) {
      throw new Error('The output of all turns was removed: there is nothing to go back to.');
    }
    await askTurn({
      title: `Rewind ${title(session)}`, text: `Goes on in a new session that ends before the turn. This one is stopped, and stays in the list. ${memory}`, action: 'Rewind',
      legend: 'Go back to', whole: '', turns, oldest: session.oldest,
    }, (spec) => rewound(page, session, spec));
  },
  switch: async (page, session) => {
    await askSwitch(`Switch ${title(session)}`, await profiles(), (spec) => created(page, api.switchTo(session.id, spec)));
  },
  rename: (page, session) =>
    askName(`Rename ${title(session)}`, 'Rename', session.name ?? '',
      async (name) => page.changed(await api.rename(session.id, name))),
  delete: (page, session) =>
    confirm(`Delete ${title(session)}?`, `Its output is removed for good${session.live ? ', and its program is ended' : ''}.`,
      'Delete', async () => {
        await api.remove(session.id);
        page.changed({ id: session.id, deleted: true });
        dismiss('gone'); // who deletes it knows that
      }),
};

/** Tells whether an action can be done with a session. */
export const can = (name, session) => possible[name]?.(session) ?? true;

/**
 * Does one of the actions with a session, or with none for 'new' and 'help'.
 * page has changed(change), go(id, mine), focus(), fit(), find(), text(), earlier(),
 * and room(): the window's {cols, rows}, or {} if it is not known.
 */
export const act = (name, page, session) => actions[name](page, session);
