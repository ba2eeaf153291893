import type { AutomationOfferDetail } from "../../../automation-messages.ts";
import { Code, Text } from "../../components/text.tsx";

interface OfferViewProps {
  readonly offer: AutomationOfferDetail;
  /** False for one of which there is no accepted version to compare with. */
  readonly isAccepted: boolean;
}

/** The version that a person accepts: the whole file at first, later the difference of the file and of the declarations of methods. */
export function OfferView({ offer, isAccepted }: OfferViewProps) {
  const { text, difference, flaw } = offer;
  return (
    <div class="stack">
      {flaw !== null && <Text in="p" class="warning" value={`It cannot be accepted: ${flaw}`} limit={2_000} />}
      {!isAccepted && <Code label="The whole file" value={text} limit={20_000} />}
      {isAccepted && difference.lines.length > 0 && <Lines lines={difference.lines} />}
      {isAccepted && difference.methods.length > 0 && <Methods methods={difference.methods} />}
    </div>
  );
}

/** Lines that are drawn. */
const MAX_LINES = 1_000;

function Lines({ lines }: Pick<AutomationOfferDetail["difference"], "lines">) {
  return (
    <section>
      <h3>The file</h3>
      <pre class="code" tabIndex={0} aria-label="Difference of the file">
        {lines.slice(0, MAX_LINES).map((line, at) => (
          <div key={at} class={`program-line ${line.startsWith("+") ? "difference-added" : "difference-removed"}`}>
            <Text value={line} limit={1_000} />
          </div>
        ))}
      </pre>
      {lines.length > MAX_LINES && <p class="muted">and {lines.length - MAX_LINES} lines more</p>}
    </section>
  );
}

function Methods({ methods }: Pick<AutomationOfferDetail["difference"], "methods">) {
  return (
    <section class="stack">
      <h3>Methods</h3>
      {methods.map(({ path, before, now }) => (
        <section key={path} class="stack-tight">
          <Text in="strong" value={`${path} ${describeChange(before, now)}`} limit={200} />
          {before !== undefined && <Code label={`${path} before`} value={`before:\n${before}`} />}
          {now !== undefined && <Code label={`${path} now`} value={`now:\n${now}`} />}
        </section>
      ))}
    </section>
  );
}

function describeChange(before: string | undefined, now: string | undefined): string {
  if (before === undefined) return "is new in the plan";
  return now === undefined ? "is gone" : "has changed";
}

/** The methods that the program may call, with their effects. */
export function Plan({ calls }: Pick<AutomationOfferDetail, "calls">) {
  if (calls.length === 0) return <p class="muted">The program calls no method.</p>;
  return (
    <ul class="stack-tight" aria-label="Plan">
      {calls.map(({ path, effect }) => (
        <li key={path} class="row">
          <Text in="code" value={path} limit={200} />
          <span class={effect === "read" ? "muted" : "timeline-effect"}>{effect}</span>
        </li>
      ))}
    </ul>
  );
}
