/** Splits a JSON pointer (RFC 6901), also one of the fragment of a URL, into the names of members. */
export function splitPointer(pointer: string): readonly string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((part) => decodePercent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A percent sign without two digits after it is literal. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
