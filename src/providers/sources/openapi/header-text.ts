/** A name of a header (RFC 9110). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

// oxlint-disable-next-line eslint/no-control-regex -- these are what ends a header
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** True for a name that a header can have. */
export function isToken(name: string): boolean {
  return TOKEN.test(name);
}

/** True for a text that a header cannot have: line breaks, NUL and other control characters. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

/** Returns a text as Node sends it in a header: its UTF-8, one character for each byte. */
export function toHeaderText(text: string): string {
  return Buffer.from(text).toString("latin1");
}
