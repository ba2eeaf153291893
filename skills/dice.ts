import { randomInt } from "node:crypto";

/** Rolls one die with the given number of sides. */
type Die = (sides: number) => number;

/** Rolls dice for games. */
export class DiceSkill {
  readonly #die: Die;

  constructor(die: Die = (sides) => randomInt(1, sides + 1)) {
    this.#die = die;
  }

  /**
   * Roll dice in the usual notation: 2d6, d20+5, 4d6kh3 (keep the highest three), 2d20kl1-1 (keep the lowest one).
   *
   * @param notation Dice notation (e.g., '2d6', 'd20+5', '4d6kh3')
   * @returns The dice as they fell, those that were kept, and the total
   * @category fun
   * @example device.DiceSkill.roll_dice("4d6kh3")
   */
  roll_dice(notation: string): string {
    const { text, count, sides, keep, modifier } = parse(notation);
    const rolled = Array.from({ length: count }, () => this.#die(sides));
    const kept = keep ? best(rolled, keep) : rolled;
    const total = kept.reduce((sum, die) => sum + die, modifier);
    if (count === 1) return `Rolled ${text}: **${total}**`;
    const choice = keep ? ` → kept ${list(kept)}` : "";
    const change = modifier === 0 ? "" : ` ${modifier > 0 ? "+" : ""}${modifier}`;
    return `Rolled ${text}: ${list(rolled)}${choice}${change} = **${total}**`;
  }
}

interface Roll {
  /** The notation with an explicit count. */
  readonly text: string;
  readonly count: number;
  readonly sides: number;
  readonly keep: Keep | undefined;
  readonly modifier: number;
}

interface Keep {
  readonly count: number;
  readonly end: "highest" | "lowest";
}

const MAX_DICE = 100;
const MAX_SIDES = 1000;
const NOTATION = /^(?<count>\d*)d(?<sides>\d+)(?:k(?<end>[hl])(?<keep>\d+))?(?<modifier>[+-]\d{1,9})?$/;

function parse(notation: string): Roll {
  const text = notation.trim().toLowerCase();
  if (text === "") throw new Error("No dice notation provided");
  const groups = NOTATION.exec(text)?.groups;
  if (!groups) throw invalid(text);
  const count = Number(groups["count"] || 1);
  const sides = Number(groups["sides"]);
  if (count > MAX_DICE) throw new Error(`Too many dice (max ${MAX_DICE})`);
  if (sides > MAX_SIDES) throw new Error(`Too many sides (max ${MAX_SIDES})`);
  const keep: Keep | undefined = groups["keep"]
    ? { count: Number(groups["keep"]), end: groups["end"] === "h" ? "highest" : "lowest" }
    : undefined;
  if (count < 1 || sides < 2 || (keep && (keep.count < 1 || keep.count > count))) throw invalid(text);
  return { text: groups["count"] ? text : `1${text}`, count, sides, keep, modifier: Number(groups["modifier"] ?? 0) };
}

/** Sorts the kept dice: the highest first for `kh`, the lowest first for `kl`. */
function best(rolled: readonly number[], { count, end }: Keep): readonly number[] {
  const sorted = rolled.toSorted((left, right) => (end === "highest" ? right - left : left - right));
  return sorted.slice(0, count);
}

function list(dice: readonly number[]): string {
  return `[${dice.join(", ")}]`;
}

function invalid(notation: string): Error {
  return new Error(`Invalid dice notation: ${notation}`);
}
