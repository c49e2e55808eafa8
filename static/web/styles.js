// The page's policy forbids inline styles: a <style> element, and a style
// attribute set as text. The emulator uses both. Both have a form that the
// policy allows and that means the same: a constructed style sheet, and the
// style object. This module, loaded before the emulator, makes the first use
// the second.

/** Takes the place of a <style> element. */
class StyleElement extends HTMLElement {
  #sheet = new CSSStyleSheet();

  set textContent(css) {
    this.#sheet.replaceSync(css);
  }

  connectedCallback() {
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback() {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet);
  }
}

customElements.define('holdfast-style', StyleElement);

const createElement = document.createElement;
document.createElement = function (name, options) {
  return createElement.call(this, name === 'style' ? 'holdfast-style' : name, options);
};

const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === 'style') {
    this.style.cssText = value;
  } else {
    setAttribute.call(this, name, value);
  }
};
