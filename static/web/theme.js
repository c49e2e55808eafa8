// The emulator's colours, for light and dark, and its letters. The sixteen
// colours can be read on the ground of their theme.

export const baseFont = 14; // px, when the session fits

export const fontFamily = 'ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';

const dark = {
  background: '#111418', foreground: '#d6dae0', cursor: '#e6e9ee', cursorAccent: '#111418', selectionBackground: '#34507a',
  black: '#22272e', red: '#f0716b', green: '#7cc47f', yellow: '#d8b25c', blue: '#6ca4ee', magenta: '#c58be0', cyan: '#5bbcc4', white: '#c3c8d0',
  brightBlack: '#768190', brightRed: '#ff938d', brightGreen: '#9bdd9d', brightYellow: '#efcd7e', brightBlue: '#93bffb', brightMagenta: '#dcabf2',
  brightCyan: '#82d9e0', brightWhite: '#f3f5f8',
};

const light = {
  background: '#ffffff', foreground: '#1f242b', cursor: '#1f242b', cursorAccent: '#ffffff', selectionBackground: '#bcd3f5',
  black: '#1f242b', red: '#b3261e', green: '#1f7a34', yellow: '#8a6100', blue: '#1f5fc0', magenta: '#8a3fa8', cyan: '#0f7680', white: '#5d6672',
  brightBlack: '#6b7480', brightRed: '#cf3b33', brightGreen: '#2b9445', brightYellow: '#a67600', brightBlue: '#2f76e0', brightMagenta: '#a455c4',
  brightCyan: '#178f9b', brightWhite: '#3a424d',
};

const marks = {
  dark: { matchBackground: '#5a4a1c', matchOverviewRuler: '#8a6f22', activeMatchBackground: '#a37a12', activeMatchColorOverviewRuler: '#d8b25c' },
  light: { matchBackground: '#ffe9a8', matchOverviewRuler: '#d8b25c', activeMatchBackground: '#ffc64a', activeMatchColorOverviewRuler: '#a67600' },
};

const night = matchMedia('(prefers-color-scheme: dark)');

export const theme = () => (night.matches ? dark : light);

/** The colours of what a search has found. */
export const markColours = () => (night.matches ? marks.dark : marks.light);

/** Calls changed() whenever theme() is another one. */
export const onTheme = (changed) => night.addEventListener('change', changed);
