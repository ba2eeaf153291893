import { InvalidArgumentError } from "commander";

/** The longest time that Node can wait, in milliseconds. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Reads the value of an option that counts something. */
export function wholeNumber(text: string): number {
  return parseWholeNumber(text, 1);
}

/** Reads the value of an option that may be none. */
export function wholeNumberOrZero(text: string): number {
  return parseWholeNumber(text, 0);
}

function parseWholeNumber(text: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= MAX_NUMBER) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${MAX_NUMBER}.`);
}
