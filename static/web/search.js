// Search in the output that the page has.

/** A Search is the form over the terminal. screen() is the Screen that is shown. */
export class Search {
  #form;
  #input;
  #screen;

  constructor(form, screen) {
    this.#form = form;
    this.#input = form.querySelector('input');
    this.#screen = screen;
    this.#input.addEventListener('input', () => this.#find({ typing: true }));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#find();
    });
    form.querySelector('[data-step=back]').addEventListener('click', () => this.#find({ back: true }));
    form.querySelector('[data-step=end]').addEventListener('click', () => this.close());
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        this.close();
      } else if (event.key === 'Enter' && event.shiftKey) {
        event.preventDefault();
        this.#find({ back: true });
      }
    });
  }

  open() {
    this.#form.hidden = false;
    this.#input.select();
    this.#input.focus();
    this.#find({ typing: true });
  }

  /** Ends the search; the focus goes back to the terminal. */
  close() {
    this.hide();
    this.#screen().focus();
  }

  hide() {
    this.#form.hidden = true;
    this.#screen().find('');
  }

  /** Something else was found. */
  found(index, count) {
    const some = index < 0 ? `${count} or more` : `${index + 1} of ${count}`;
    this.#form.querySelector('output').textContent = this.#input.value && (count ? some : 'none');
  }

  #find(how) {
    if (!this.#input.value) {
      this.found(-1, 0);
    }
    this.#screen().find(this.#input.value, how);
  }
}
