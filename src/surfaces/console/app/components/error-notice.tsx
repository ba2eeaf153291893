import type { ProblemDetails } from "../../messages.ts";
import { Text } from "./text.tsx";

interface ErrorNoticeProps {
  readonly error: ProblemDetails;
  readonly onRetry?: () => void;
}

/** An error with the sentence and the advice of the error table. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  return (
    <div class="notice notice-error" role="alert">
      <p class="notice-title">
        <Text value={error.detail ?? error.title} />
      </p>
      <p>
        <Text value={error.fix} />
      </p>
      {error.suggestions !== undefined && error.suggestions.length > 0 && (
        <ul>
          {error.suggestions.map((suggestion) => (
            <li key={suggestion}>
              <Text value={suggestion} />
            </li>
          ))}
        </ul>
      )}
      {onRetry !== undefined && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
