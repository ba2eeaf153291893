import type { SearchResults } from "../../messages.ts";
import { Card, EmptyState } from "../components/elements.tsx";
import { FilterField } from "../components/form.tsx";
import { Load } from "../components/load.tsx";
import { Code, Text } from "../components/text.tsx";
import { formatLink, navigate } from "../router.ts";
import type { PageProps } from "./index.ts";

/** The search as a model gets it: ranked methods with scores, and the text that it reads. */
export function SearchPage({ query }: PageProps) {
  const words = query.get("q") ?? "";
  return (
    <>
      <p class="muted">What a model finds when it calls search_skills with these words.</p>
      <FilterField
        label="Words"
        class="large"
        placeholder="read a file"
        autofocus
        value={words}
        onChange={(text) => navigate(formatLink(["search"], { q: text }), { replace: true })}
      />
      {words === "" ? (
        <EmptyState icon="search" title="Type what you would ask for">
          For example “read a file”, “current time” or the name of a method.
        </EmptyState>
      ) : (
        <Load<SearchResults> path={`/search?limit=20&q=${encodeURIComponent(words)}`} reloadOn={["catalog"]}>
          {(found) => <Results {...found} />}
        </Load>
      )}
    </>
  );
}

function Results({ results, text }: SearchResults) {
  const best = Math.max(...results.map(({ score }) => score), Number.MIN_VALUE);
  return (
    <div class="columns">
      <Card title="Results">
        {results.length === 0 && (
          <EmptyState icon="search" title="Nothing found">
            Use other words, or look at <a href={formatLink(["methods"])}>all methods</a>.
          </EmptyState>
        )}
        <ol class="list">
          {results.map(({ path, signature, summary, score }) => (
            <li key={path} class="stack-tight">
              <div class="list-row">
                <Text in="strong" class="list-main" href={formatLink(["methods", path])} value={path} limit={200} />
                <span class="row muted small" title="Score of the search">
                  <span class="score-bar" style={{ inlineSize: `${Math.max(4, (score / best) * 64)}px` }} />
                  {score.toFixed(2)}
                </span>
              </div>
              <Text in="code" value={signature} limit={400} />
              <Text in="p" class="muted" value={summary} limit={400} />
            </li>
          ))}
        </ol>
      </Card>
      <Card title="Text for the model">
        <Code value={text} />
      </Card>
    </div>
  );
}
