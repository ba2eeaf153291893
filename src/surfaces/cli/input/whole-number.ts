import { InvalidArgumentError } from "commander";

/** The longest delay of a timer in Node, in milliseconds. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Parses the value of an option: a whole number from 1. */
export function wholeNumber(text: string): number {
  return parseWholeNumber(text, 1);
}

/** Parses the value of an option: a whole number from 0. */
export function wholeNumberOrZero(text: string): number {
  return parseWholeNumber(text, 0);
}

function parseWholeNumber(text: string, least: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= MAX_NUMBER) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${MAX_NUMBER}.`);
}
