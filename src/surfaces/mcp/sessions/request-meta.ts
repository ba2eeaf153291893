import { type RequestValues, withMeta } from "../../../model/requests/request-values.ts";
import { findSizeExcess } from "../../../shared/values/value-size.ts";

/** Adds the `_meta` of a request to its values, unless it is too large or too deep to be passed on. */
export function addMeta(values: RequestValues | undefined, meta: unknown): RequestValues | undefined {
  return findSizeExcess(meta) === undefined ? withMeta(values, meta) : values;
}
