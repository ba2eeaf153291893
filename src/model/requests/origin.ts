/** A part of the arguments of a call that came out of a method earlier in the same run. */
export interface Origin {
  /** The place in the arguments: `to`, `items[0].text`. */
  readonly argument: string;
  /** The path of the method: `BraveSearchMCP.search`. */
  readonly from: string;
}

/** `"to" contains text from BraveSearchMCP.search` */
export function formatOrigin({ argument, from }: Origin): string {
  return `${JSON.stringify(argument)} contains text from ${from}`;
}
