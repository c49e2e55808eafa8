// Fingers on the terminal. The emulator knows the mouse and its wheel only: a
// drag is made a turn of the wheel, which scrolls what was printed, or is what
// the program takes a wheel for.

/** Makes drags of one finger on an element scroll what is under it. */
export function addTouch(element) {
  let last = null; // where the finger was
  const at = ({ touches }) => (touches.length === 1 ? touches[0] : null); // two zoom the page
  element.addEventListener('touchstart', (event) => (last = at(event)), { passive: true });
  element.addEventListener('touchend', () => (last = null), { passive: true });
  element.addEventListener('touchmove', (event) => {
    const finger = at(event);
    if (finger && last) {
      const { clientX, clientY } = finger;
      event.target.dispatchEvent(new WheelEvent('wheel', { deltaY: last.clientY - clientY, clientX, clientY, bubbles: true, cancelable: true }));
    }
    last = finger;
  }, { passive: true });
}
