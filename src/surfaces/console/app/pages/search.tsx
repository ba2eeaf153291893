import { useEffect, useState } from "preact/hooks";

import type { SearchResults } from "../../messages.ts";
import { Card } from "../components/card.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorNotice } from "../components/error-notice.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { Text } from "../components/text.tsx";
import { formatLink, navigate } from "../router.ts";
import { useResource } from "../state/resource.ts";
import type { PageProps } from "./index.ts";

/** Milliseconds without a key after which the search starts. */
const PAUSE_MS = 150;

/** The search as a model gets it: ranked methods with scores, and the text that it reads. */
export function SearchPage({ query }: PageProps) {
  const words = query.get("q") ?? "";
  const [text, setText] = useState(words);
  useEffect(() => {
    if (text === words) return undefined;
    const timer = setTimeout(() => navigate(formatLink(["search"], { q: text }), { replace: true }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <>
      <p class="lead">What a model finds when it calls search_skills with these words.</p>
      <label class="field">
        <span class="visually-hidden">Words</span>
        <input
          type="search"
          class="input-large"
          placeholder="read a file"
          autofocus
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {words === "" ? (
        <EmptyState icon="search" title="Type what you would ask for">
          For example “read a file”, “current time” or the name of a method.
        </EmptyState>
      ) : (
        <Results words={words} />
      )}
    </>
  );
}

function Results({ words }: { readonly words: string }) {
  const { data, error, reload } = useResource<SearchResults>(`/search?limit=20&q=${encodeURIComponent(words)}`, {
    reloadOn: ["catalog"],
  });
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (data.value === undefined) return <Skeleton lines={6} />;
  const { results, text } = data.value;
  const best = Math.max(...results.map(({ score }) => score), Number.MIN_VALUE);
  return (
    <div class="columns">
      <Card title={results.length === 1 ? "1 result" : `${results.length} results`}>
        {results.length === 0 ? (
          <EmptyState icon="search" title="Nothing found">
            Use other words, or look at <a href={formatLink(["methods"])}>all methods</a>.
          </EmptyState>
        ) : (
          <ol class="list">
            {results.map(({ path, signature, summary, score }) => (
              <li key={path} class="result">
                <div class="result-head">
                  <a href={formatLink(["methods", path])}>
                    <Text value={path} limit={200} />
                  </a>
                  <span class="score" title="Score of the search">
                    <span class="score-bar" style={{ inlineSize: `${Math.max(4, (score / best) * 64)}px` }} />
                    {score.toFixed(2)}
                  </span>
                </div>
                <code class="clip">
                  <Text value={signature} limit={400} />
                </code>
                <p class="muted">
                  <Text value={summary} limit={400} />
                </p>
              </li>
            ))}
          </ol>
        )}
      </Card>
      <Card title="Text for the model">
        <pre class="code">
          <Text value={text} />
        </pre>
      </Card>
    </div>
  );
}
