import { floorQuotient, fraction } from "./exact.ts";

/** Beyond these, rounding a float to decimal places changes nothing, or gives zero. */
const MAX_PLACES = 323;
const MIN_PLACES = -308;

/** Rounds to the nearest int; ties go to the even one: 2.5 → 2, 3.5 → 4. */
export function roundToInt(x: number): bigint {
  return scaled(x, 0);
}

/** Rounds the exact value of the float: 2.675 is stored as slightly less, so two places give 2.67. */
export function roundToPlaces(x: number, places: number): number {
  if (!Number.isFinite(x) || places > MAX_PLACES) return x;
  return places < MIN_PLACES ? 0 : Number(`${scaled(x, places)}e${-places}`);
}

/** Only a negative number of places changes an int: -2 rounds to hundreds. */
export function roundInt(x: bigint, places: number): bigint {
  if (places >= 0) return x;
  if (-places > x.toString().length) return 0n;
  const unit = 10n ** BigInt(-places);
  return halfEven(x, unit) * unit;
}

/** `x` times ten to the power of `places`, exactly, then rounded. */
export function scaled(x: number, places: number): bigint {
  const { numerator, denominator } = fraction(x);
  const up = 10n ** BigInt(Math.max(places, 0));
  const down = 10n ** BigInt(Math.max(-places, 0));
  return halfEven(numerator * up, denominator * down);
}

function halfEven(numerator: bigint, denominator: bigint): bigint {
  const floor = floorQuotient(numerator, denominator);
  const above = 2n * (numerator - floor * denominator) - denominator;
  return above > 0n || (above === 0n && floor % 2n !== 0n) ? floor + 1n : floor;
}
