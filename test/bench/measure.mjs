// Measuring on a noisy machine: everything that is compared runs in turns in one process, and only ratios of medians count.

/**
 * Runs each job `rounds` times, in turns, and returns the median of each in milliseconds. A job that goes on after what is
 * measured gives `{ tookMs }`.
 */
export async function interleaved(jobs, rounds, batch = 20) {
  const times = new Map(Object.keys(jobs).map((name) => [name, []]));
  for (const job of Object.values(jobs)) await warmUp(job);
  for (let round = 0; round < rounds; round++) {
    for (const [name, job] of Object.entries(jobs)) {
      for (let i = 0; i < batch; i++) {
        const startedAt = performance.now();
        const given = await job();
        times.get(name).push(given?.tookMs ?? performance.now() - startedAt);
      }
    }
  }
  return Object.fromEntries([...times].map(([name, list]) => [name, median(list)]));
}

/** Half a second, so that the compilers have done what they will do. */
async function warmUp(job) {
  const until = performance.now() + 500;
  for (let i = 0; i < 3 || performance.now() < until; i++) await job();
}

export function median(list) {
  return quantile(list, 0.5);
}

export function quantile(list, share) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Prints a table; the first column is text, the rest numbers or text. */
export function table(title, columns, rows) {
  const cells = [columns, ...rows.map((row) => row.map((cell) => (typeof cell === "number" ? number(cell) : cell)))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => String(row[i]).length)));
  const line = (row) =>
    row.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i]))).join("  ");
  console.log(`\n${title}\n${line(cells[0])}\n${widths.map((width) => "─".repeat(width)).join("  ")}`);
  for (const row of cells.slice(1)) console.log(line(row));
}

function number(value) {
  if (value >= 100) return value.toFixed(0);
  return value >= 1 ? value.toFixed(2) : value.toPrecision(2);
}
