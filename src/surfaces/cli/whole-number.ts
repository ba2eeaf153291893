import { InvalidArgumentError } from "commander";

/** The longest time that Node can wait, in milliseconds. */
const MOST = 2 ** 31 - 1;

/** Reads the value of an option that counts something. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number > 0 && number <= MOST) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST}.`);
}
