// The binding: the session that curl, an editor or another tab went to last.
// The page stays where its person is, and tells when that has moved.

import { dismiss, notify } from './notices.js';
import { title } from './view.js';

/**
 * A Binding follows where asked. go(id) shows a session, here() is the id of
 * the one that is shown, or is about to be.
 */
export class Binding {
  #box;
  #go;
  #here;
  #known = null; // id of the session that was bound last
  #acting = 0; // things that this page does, which may move it

  constructor(box, go, here) {
    this.#box = box;
    this.#go = go;
    this.#here = here;
    box.checked = sessionStorage.getItem('follow') === 'yes'; // of this tab, over reloads
    box.addEventListener('change', () => {
      sessionStorage.setItem('follow', box.checked ? 'yes' : 'no');
      if (box.checked && this.#known) {
        this.#show();
      }
    });
  }

  /** Does something that may move the binding to where the page goes itself. */
  async during(act) {
    this.#acting++;
    try {
      return await act();
    } finally {
      this.#acting--;
    }
  }

  /** Begins with what is bound. */
  begin(session) {
    this.#known = session?.id ?? null;
  }

  /** Takes in which session is bound now. */
  saw(session) {
    if (!session || session.id === this.#known || this.#acting) {
      return;
    }
    this.#known = session.id;
    if (session.id === this.#here()) {
      dismiss('binding');
    } else if (this.#box.checked) {
      this.#show();
    } else {
      notify('binding', `Another tab or program went to ${title(session)} (${session.id.slice(0, 8)}).`, {
        actions: [['Show it', () => this.#show()], ['Always follow', () => this.#box.click()]],
      });
    }
  }

  #show() {
    dismiss('binding');
    this.#go(this.#known);
  }
}
