/** The effects that the owner can state of an operation of an API. */
export const SOURCE_EFFECTS = ["read", "write", "destructive"] as const;
export type SourceEffect = (typeof SOURCE_EFFECTS)[number];
