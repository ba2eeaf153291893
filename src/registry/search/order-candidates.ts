import type { WeightedTerm } from "./score.ts";
import { CLAUSE_SETTLED_SHARE, SAME_NAME_FACTOR, SETTLED_SHARE } from "./weights.ts";

/** Number of documents that are scored in detail. */
export const CLOSER = 40;

/** Maximum ranks that are assigned one by one. */
const MAX_ORDERED = 20;

export interface Candidate {
  readonly document: number;
  /** 3: the query is its name; 2: the query is the name of its skill; 1: the query is a prefix of its name. */
  readonly tier: number;
  /** The value of each term, including the bonus for the name. */
  readonly values: readonly number[];
  readonly sum: number;
  /** The name by which copies of a method are recognized. */
  readonly name: string;
}

/**
 * Sorts candidates, best first. The first ranks are assigned one by one: clauses and terms that better candidates have
 * settled, and repeated names, count less. `ranks` is the number of those that are needed.
 */
export function orderCandidates(
  candidates: readonly Candidate[],
  terms: readonly WeightedTerm[],
  ranks: number,
): readonly Candidate[] {
  const sorted = candidates.toSorted((a, b) => b.tier - a.tier || b.sum - a.sum);
  const open = sorted.slice(0, CLOSER);
  const demand = createDemand(open, terms);
  const names = new Map<string, number>();
  const ordered: Candidate[] = [];
  while (open.length > 0 && ordered.length < Math.min(ranks, MAX_ORDERED)) {
    const [next] = open.splice(findBestIndex(open, demand.shares, names), 1);
    if (next === undefined) break;
    ordered.push(next);
    names.set(next.name, (names.get(next.name) ?? 0) + 1);
    demand.settle(next);
  }
  return [...ordered, ...open, ...sorted.slice(CLOSER)];
}

/** How much the terms of a query count for the next rank. */
interface Demand {
  /** By term, from 0 to 1; `undefined` if all count in full. */
  readonly shares: readonly number[] | undefined;
  /** Lowers the shares by what the candidate of a rank answers. */
  settle(candidate: Candidate): void;
}

/** In a query of one clause, all terms count for every rank. */
function createDemand(candidates: readonly Candidate[], terms: readonly WeightedTerm[]): Demand {
  const clausesByTerm = terms.map(({ term }) => term.clauses);
  const count = Math.max(0, ...clausesByTerm.flat()) + 1;
  if (count === 1) return { shares: undefined, settle: () => {} };
  const shares = terms.map(() => 1);
  const termsLeft = terms.map(() => 1);
  const clausesLeft = Array.from({ length: count }, () => 1);
  const most = clausesLeft.map((_, clause) =>
    Math.max(0, ...candidates.map(({ values }) => sumOfClause(values, clausesByTerm, clause))),
  );
  return {
    shares,
    settle({ values }) {
      const best = Math.max(...values);
      for (const [term, value] of values.entries())
        termsLeft[term] = (termsLeft[term] ?? 1) * (1 - SETTLED_SHARE * share(value, best));
      for (const [clause, all] of most.entries()) {
        const answered = share(sumOfClause(values, clausesByTerm, clause), all);
        clausesLeft[clause] = (clausesLeft[clause] ?? 1) * (1 - CLAUSE_SETTLED_SHARE * answered);
      }
      for (const [term, clauses] of clausesByTerm.entries())
        shares[term] = (termsLeft[term] ?? 1) * Math.max(...clauses.map((clause) => clausesLeft[clause] ?? 1));
    },
  };
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Sums the values of the terms that a clause has. */
function sumOfClause(values: readonly number[], clauses: readonly (readonly number[])[], clause: number): number {
  return values.reduce((sum, value, term) => sum + (clauses[term]?.includes(clause) === true ? value : 0), 0);
}

function findBestIndex(
  open: readonly Candidate[],
  shares: readonly number[] | undefined,
  names: ReadonlyMap<string, number>,
): number {
  const tier = open[0]?.tier ?? 0;
  let bestIndex = 0;
  let most = -1;
  for (let at = 0; at < open.length; at++) {
    const candidate = open[at];
    // Candidates are sorted by sum, an upper bound of the value: those after one that cannot win cannot win either.
    if (candidate === undefined || candidate.tier < tier || candidate.sum <= most) break;
    const left = shares === undefined ? candidate.sum : valueLeft(candidate.values, shares);
    if (left <= most) continue;
    const value = left * SAME_NAME_FACTOR ** (names.get(candidate.name) ?? 0);
    if (value > most) [bestIndex, most] = [at, value];
  }
  return bestIndex;
}

function valueLeft(values: readonly number[], shares: readonly number[]): number {
  let sum = 0;
  for (let term = 0; term < values.length; term++) sum += (values[term] ?? 0) * (shares[term] ?? 1);
  return sum;
}
