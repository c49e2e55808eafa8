// A command line as people type it, split into arguments.

/**
 * Splits a command line at blanks, as a shell does for plain words: single
 * quotes keep everything, double quotes and a backslash what they keep in a
 * shell. Nothing is expanded. An unclosed quote is an error.
 */
export function words(line) {
  const result = [];
  let word = null; // null: between words
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const char = line[i];
    if (quote === "'" ? char === "'" : quote && char === '"') {
      quote = '';
    } else if (char === '\\' && quote !== "'" && (!quote || '"\\$`'.includes(line[i + 1]))) {
      word = (word ?? '') + (line[++i] ?? '');
    } else if (quote) {
      word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) {
        result.push(word);
      }
      word = null;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote) {
    throw new Error(`a quote is not closed: ${quote}`);
  }
  return word === null ? result : [...result, word];
}
