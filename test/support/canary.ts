/** A secret with characters that JSON, URLs and base64 write in other ways. */
export const CANARY = 'ca"nary/+ 7d1f9b2c5e';

/** The form in which a text, or a value as JSON, has the canary: any in which programs write it. */
export function findLeak(said: unknown): string | undefined {
  const text = typeof said === "string" ? said : (JSON.stringify(said) ?? "");
  const base64 = Buffer.from(CANARY).toString("base64");
  return ["7d1f9b2c5e", encodeURIComponent(CANARY), base64, base64.replaceAll("=", "")].find((form) =>
    text.includes(form),
  );
}
