/** Converts a finite float to its exact fraction: 0.5 is 1 over 2, and 0.1 a little more than a tenth. */
export function fraction(x: number): { readonly numerator: bigint; readonly denominator: bigint } {
  let numerator = x;
  let twos = 0n;
  for (; !Number.isInteger(numerator); numerator *= 2) twos++;
  return { numerator: BigInt(numerator), denominator: 1n << twos };
}

/**
 * Returns the float nearest to a quotient of integers of any size; infinite if no float is as large. The division yields
 * 64 bits or more, the last of which marks a remainder: enough for one correct rounding.
 */
export function nearestFloat(numerator: bigint, denominator: bigint): number {
  const shift = bitLength(numerator) - bitLength(denominator) - 65;
  const above = shift < 0 ? numerator << BigInt(-shift) : numerator;
  const below = shift > 0 ? denominator << BigInt(shift) : denominator;
  const sticky = above % below === 0n ? 0n : 1n;
  const quotient = Number(((above / below) * 2n) | sticky) / 2;
  // In two steps, because 2 ** shift alone may be out of range where the product is not.
  const half = Math.trunc(shift / 2);
  return quotient * 2 ** half * 2 ** (shift - half);
}

/** Divides and rounds down, like Python's `//`. */
export function floorQuotient(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const isExact = quotient * denominator === numerator;
  return isExact || numerator < 0n === denominator < 0n ? quotient : quotient - 1n;
}

export function bitLength(value: bigint): number {
  return (value < 0n ? -value : value).toString(2).length;
}
