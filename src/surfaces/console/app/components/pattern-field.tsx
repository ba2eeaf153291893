import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";

import type { CountedPatterns } from "../../messages.ts";
import { request } from "../api.ts";
import { Field } from "./form.tsx";
import { Text } from "./text.tsx";

interface PatternFieldProps {
  readonly name: string;
  readonly label: string;
  /** Patterns of permissions, or keys of rows of the policy. */
  readonly kind?: "permission" | "row";
  readonly value?: string;
  readonly note?: string;
  readonly placeholder?: string;
}

/** Milliseconds without a key after which the matches are counted. */
const PAUSE_MS = 200;

/** A field for patterns of methods, which completes them and says what they match. */
export function PatternField({ kind = "permission", value = "", ...field }: PatternFieldProps) {
  const id = useId();
  const text = useSignal(value);
  const matches = useSignal<CountedPatterns | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const count = (): void => {
      const query = new URLSearchParams({ kind, text: text.value });
      request<CountedPatterns>(`/patterns?${query}`, { signal: controller.signal }).then(
        (answer) => (matches.value = answer),
        () => {}, // outdated, or the connection is lost, which the bar says
      );
    };
    const timer = setTimeout(count, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text.value]);
  return (
    <div class="stack-tight wide">
      <Field {...field} value={value} list={id} onText={(each) => (text.value = each)} />
      <datalist id={id}>
        {matches.value?.candidates.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <small class="muted" role="status">
        {text.value.trim() !== "" && matches.value !== undefined && <Text value={matches.value.text} limit={400} />}
      </small>
    </div>
  );
}
