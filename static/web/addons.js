// What is added to the emulator: the widths that programs count with, links,
// search, and drawing by the graphics card where there is one.

import { SearchAddon } from './vendor/addon-search.mjs';
import { Unicode11Addon } from './vendor/addon-unicode11.mjs';
import { WebLinksAddon } from './vendor/addon-web-links.mjs';
import { markColours } from './theme.js';

/** Opens an address in a tab that cannot reach this one. */
function visit(event, address) {
  window.open(address, '_blank', 'noopener,noreferrer');
}

/** Characters are as wide as the C library says, which is what programs ask. */
export function addUnicode(term) {
  term.loadAddon(new Unicode11Addon());
  term.unicode.activeVersion = '11';
}

export function addLinks(term) {
  term.loadAddon(new WebLinksAddon(visit));
}

/**
 * Adds search. found(index, count) is called when what was found has changed;
 * index is -1 where there are too many to count.
 */
export function addSearch(term, found) {
  const addon = new SearchAddon();
  term.loadAddon(addon);
  addon.onDidChangeResults(({ resultIndex, resultCount }) => found(resultIndex, resultCount));
  return {
    /** Goes to the next match, or the one before; text that is typed on stays where it is. */
    find: (text, { back = false, typing = false } = {}) =>
      back ? addon.findPrevious(text, { decorations: markColours() }) : addon.findNext(text, { decorations: markColours(), incremental: typing }),
    end: () => addon.clearDecorations(),
  };
}

/**
 * Draws by WebGL from now on, if the browser can without slow software. Else,
 * and when the card is lost, the emulator draws with elements, which looks the
 * same.
 */
export async function addWebgl(term) {
  const probe = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (!probe) {
    return;
  }
  probe.getExtension('WEBGL_lose_context')?.loseContext(); // browsers allow few at once
  try {
    const { WebglAddon } = await import('./vendor/addon-webgl.mjs');
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    term.loadAddon(addon);
  } catch (error) {
    console.info('drawing without WebGL:', error);
  }
}
