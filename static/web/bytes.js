// What is typed, as bytes.

/** How many keys these bytes are: an escape sequence counts as one. */
export const countKeys = (bytes) => new TextDecoder().decode(bytes).match(/\x1b[[O][^@-~]*[@-~]|./gsu)?.length ?? 0;

/** A key that no other request has. */
export function newKey() {
  const words = crypto.getRandomValues(new Uint32Array(4)); // randomUUID needs a secure context
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** Where to cut bytes so that the first part has at most size, and no half character. */
export function cutAt(bytes, size) {
  let end = Math.min(size, bytes.length);
  while (end > 0 && end < bytes.length && (bytes[end] & 0xc0) === 0x80) {
    end--;
  }
  return end;
}
