/** An example of each string format, and a test for other values. */
const FORMATS: Readonly<Record<string, { readonly example: string; readonly test: RegExp }>> = {
  date: { example: "2025-01-15", test: /^\d{4}-\d\d-\d\d$/ },
  time: { example: "12:30:00Z", test: /^\d\d:\d\d:\d\dZ$/ },
  "date-time": { example: "2025-01-15T12:30:00Z", test: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/ },
  "iso-time": { example: "12:30:00Z", test: /^\d\d:\d\d:\d\dZ$/ },
  "iso-date-time": { example: "2025-01-15T12:30:00Z", test: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ },
  duration: { example: "PT1H", test: /^P(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?$/ },
  email: { example: "ada@example.com", test: /^[\w.]+@[\w-]+\.[a-z]+$/ },
  "idn-email": { example: "ada@example.com", test: /^[\w.]+@[\w-]+\.[a-z]+$/ },
  hostname: { example: "example.com", test: /^[a-z\d-]+(\.[a-z\d-]+)*$/ },
  "idn-hostname": { example: "example.com", test: /^[a-z\d-]+(\.[a-z\d-]+)*$/ },
  ipv4: { example: "192.0.2.1", test: /^\d{1,3}(\.\d{1,3}){3}$/ },
  ipv6: { example: "2001:db8::1", test: /^[\da-f:]+:[\da-f:]+$/ },
  uri: { example: "https://example.com/", test: /^[a-z]+:\/\/\S+$/ },
  url: { example: "https://example.com/", test: /^https?:\/\/\S+\.\S+$/ },
  iri: { example: "https://example.com/", test: /^[a-z]+:\/\/\S+$/ },
  "uri-reference": { example: "/example", test: /^\S*$/ },
  "iri-reference": { example: "/example", test: /^\S*$/ },
  "uri-template": { example: "/example/{id}", test: /^[^\s{}]*(\{\w+\})?$/ },
  uuid: { example: "123e4567-e89b-42d3-a456-426614174000", test: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/ },
  "json-pointer": { example: "/example", test: /^(\/[^~\s]*)*$/ },
  "relative-json-pointer": { example: "0/example", test: /^\d+(\/[^~\s]*)*$/ },
  regex: { example: "^a+$", test: /^\S+$/ },
  byte: { example: "ZXhhbXBsZQ==", test: /^([A-Za-z\d+/]{4})*([A-Za-z\d+/]{2}==)?$/ },
};

export function getFormatExample(format: unknown): string | undefined {
  return typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format]?.example : undefined;
}

/** False if the format is known and the text clearly does not match it. */
export function fitsFormat(text: string, format: string): boolean {
  return !Object.hasOwn(FORMATS, format) || FORMATS[format]?.test.test(text) === true;
}
