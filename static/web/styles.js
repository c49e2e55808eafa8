// The page's policy forbids inline styles: a <style> element filled in by
// script, and a style attribute set as text. The emulator uses both. Both have
// a form that the policy allows and that means the same: a constructed style
// sheet, and the style object. This module, loaded before the emulator, makes
// the first use the second.

const sheets = new WeakMap(); // <style> element -> its CSSStyleSheet

Object.defineProperty(HTMLStyleElement.prototype, 'textContent', {
  configurable: true,
  get() {
    return [...(sheets.get(this)?.cssRules ?? [])].map((rule) => rule.cssText).join('\n');
  },
  set(css) {
    let sheet = sheets.get(this);
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheets.set(this, sheet);
      document.adoptedStyleSheets.push(sheet);
    }
    sheet.replaceSync(css);
  },
});

HTMLStyleElement.prototype.remove = function () {
  const sheet = sheets.get(this);
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
  Element.prototype.remove.call(this);
};

const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === 'style') {
    this.style.cssText = value;
  } else {
    setAttribute.call(this, name, value);
  }
};
