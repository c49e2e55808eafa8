// The part of the window that is not under the on-screen keyboard.

/**
 * Keeps the page as high as what can be seen of the window. Some browsers make
 * the window itself smaller, others cover it and push it up. While somebody
 * has zoomed in, the page stays as it is.
 */
export function keepInView(body) {
  const view = window.visualViewport;
  const fit = () => {
    if (Math.abs(view.scale - 1) > 0.01) {
      return;
    }
    const covered = window.innerHeight - view.height > 1;
    body.style.height = covered ? `${view.height}px` : '';
    body.style.top = covered ? `${view.offsetTop}px` : '';
  };
  view.addEventListener('resize', fit);
  view.addEventListener('scroll', fit);
}
