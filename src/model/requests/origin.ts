/** A part of the arguments of a call that came out of a method earlier in the same run. */
export interface Origin {
  /** The place in the arguments: `to`, `items[0].text`. */
  readonly argument: string;
  /** The path of the method: `BraveSearchMCP.search`; `device.input` for the input of the run. */
  readonly from: string;
}

/** The path of the input of a run: in origins, and in the flows of a policy. */
export const INPUT_ORIGIN = "device.input";

/** `"to" contains text from BraveSearchMCP.search` */
export function formatOrigin({ argument, from }: Origin): string {
  const source = from === INPUT_ORIGIN ? "that came from the input of the run" : `from ${from}`;
  return `${JSON.stringify(argument)} contains text ${source}`;
}
