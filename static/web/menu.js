// The menu of what is done seldom. The browser opens and closes it.

/** Places a popover under its button, and closes it when something was chosen. */
export function placeMenu(menu, button) {
  menu.addEventListener('beforetoggle', ({ newState }) => {
    const box = button.getBoundingClientRect();
    menu.style.top = `${box.bottom + 4}px`;
    menu.style.maxHeight = `${innerHeight - box.bottom - 8}px`;
    menu.style.right = `${document.documentElement.clientWidth - box.right}px`;
    button.setAttribute('aria-expanded', newState === 'open');
  });
  menu.addEventListener('toggle', ({ newState }) => newState === 'open' && menu.querySelector('button:not([hidden])')?.focus());
  menu.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const items = [...menu.querySelectorAll('button:not([hidden])')];
      items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
      event.preventDefault();
    }
  });
  menu.addEventListener('click', () => menu.hidePopover(), true); // before a dialog opens, which gives the focus back to where it was
}
