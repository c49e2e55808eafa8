// The emulator keeps text readable on any ground (minimumContrastRatio). For
// inverse text of the default colour it looks at that colour, which is the
// ground then, instead of the one that the text is drawn in: the text becomes
// a grey that is hardly readable (xterm.js 6.0, _applyMinimumContrast).

/** Makes an opened Terminal compare inverse text as it is drawn. */
export function correctInverse(term) {
  const rows = term._core._renderService?._renderer.value?._rowFactory;
  const apply = rows?._applyMinimumContrast;
  if (!apply) {
    return; // another version
  }
  rows._applyMinimumContrast = function (element, ground, ink, cell, ...others) {
    const { foreground, background } = this._themeService.colors;
    return apply.call(this, element, ground, cell.isInverse() && ink === foreground ? background : ink, cell, ...others);
  };
}
