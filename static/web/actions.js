// What a person can do with sessions, by the name in a button's data-do.

import * as api from './api.js';
import { askName, askNew, confirm } from './dialogs.js';
import { title } from './view.js';

async function created(page, answer) {
  const session = await answer;
  page.changed(session);
  page.go(session.id);
}

const actions = {
  new: async (page) => {
    const profiles = await api.profiles();
    await askNew(profiles, (spec) => created(page, api.create({ ...spec, ...page.room() })));
  },
  resume: async (page, session) => {
    page.changed(await api.resume(session.id));
    page.focus();
  },
  fit: async (page) => {
    page.fit();
    page.focus();
  },
  stop: (page, session) => {
    const [question, text, action] = session.live
      ? [`Stop ${title(session)}?`, 'Its program is ended. The output stays, and it can be resumed.', 'Stop']
      : [`Do not resume ${title(session)}?`, 'No server starts it again by itself. It can still be resumed here.', 'Do not resume'];
    return confirm(question, text, action, async () => page.changed(await api.stop(session.id)));
  },
  fork: (page, session) =>
    askName(`Fork ${title(session)}`, 'Fork', `${title(session)} (copy)`,
      (name) => created(page, api.fork(session.id, name ? { name } : {}))),
  rename: (page, session) =>
    askName(`Rename ${title(session)}`, 'Rename', session.name ?? '',
      async (name) => page.changed(await api.rename(session.id, name))),
  delete: (page, session) =>
    confirm(`Delete ${title(session)}?`, `Its output is removed for good${session.live ? ', and its program is ended' : ''}.`,
      'Delete', async () => {
        await api.remove(session.id);
        page.changed({ id: session.id, deleted: true });
      }),
};

/**
 * Does one of the actions with a session, or with none for 'new'. page has
 * changed(change), go(id), focus(), fit(), and room(): the window's {cols,
 * rows}, or {} if it is not known.
 */
export const act = (name, page, session) => actions[name](page, session);
