// What xterm.js 6.0 does wrong where it draws with elements, put right.

const renderer = (term) => term._core._renderService?._renderer.value;

// The emulator keeps text readable on any ground (minimumContrastRatio). For
// inverse text of the default colour it looks at that colour, which is the
// ground then, instead of the one that the text is drawn in: the text becomes
// a grey that is hardly readable (xterm.js 6.0, _applyMinimumContrast).

/** Makes an opened Terminal compare inverse text as it is drawn. */
export function correctInverse(term) {
  const rows = renderer(term)?._rowFactory;
  const apply = rows?._applyMinimumContrast;
  if (!apply) {
    return; // another version
  }
  rows._applyMinimumContrast = function (element, ground, ink, cell, ...others) {
    const { foreground, background } = this._themeService.colors;
    return apply.call(this, element, ground, cell.isInverse() && ink === foreground ? background : ink, cell, ...others);
  };
}

/** Makes an opened Terminal forget a selection that is gone: a change of size would draw it again. */
export function forgetSelection(term) {
  const drawn = renderer(term);
  const change = drawn?.handleSelectionChanged;
  if (!change || !drawn._selectionRenderModel?.clear) {
    return; // another version
  }
  drawn.handleSelectionChanged = function (start, end, columns) {
    if (!start || !end) {
      this._selectionRenderModel.clear();
    }
    change.call(this, start, end, columns);
  };
}
