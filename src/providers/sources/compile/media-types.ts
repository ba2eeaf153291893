const MAX_TYPES = 10;

/** Returns media types with those of JSON first, the others in their order. */
export function preferJson(types: readonly string[]): readonly string[] {
  return [...types.filter(isJsonType), ...types.filter((type) => !isJsonType(type))].slice(0, MAX_TYPES);
}

/** True for `application/json`, and for types such as `application/problem+json; charset=utf-8`. */
export function isJsonType(type: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b(?!-)/i.test(type) || type === "*/*";
}

/** True for texts; a stream of events is a list. */
export function isTextType(type: string): boolean {
  return /^text\//i.test(type) && !/^text\/event-stream\b/i.test(type);
}
