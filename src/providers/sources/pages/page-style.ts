/** The names of members that lead to a value. */
export type MemberPath = readonly string[];

/** How the arguments of the next page are found in an answer. A `Link` header with rel=next counts before each of them. */
export type NextPage =
  /** Only by the header. */
  | { readonly by: "link" }
  /** By a cursor in the body, or the address of the next page there; `argument` takes the cursor. Without `at`, it is searched. */
  | { readonly by: "cursor"; readonly at?: MemberPath; readonly argument?: string }
  /** The argument takes the id of the last item, while `more` is true. */
  | { readonly by: "last item"; readonly argument: string; readonly more: MemberPath; readonly id: string }
  /** By counting pages, or items, from `first`. */
  | { readonly by: "page" | "offset"; readonly argument: string; readonly first: number };

/** The pages of an operation whose answer is a part of a list. */
export interface PageStyle {
  /** Where the list is in the body; empty if the body is the list. */
  readonly items: MemberPath;
  readonly next: NextPage;
  /** The argument for the number of items of one page, and its largest value. */
  readonly size?: { readonly argument: string; readonly max: number };
}
