/** How the pages of a list of an API follow each other. */
export const PAGE_ORDERS = ["link", "cursor", "last item", "page", "offset"] as const;
export type PageOrder = (typeof PAGE_ORDERS)[number];

/** The owner's words on the pages of an operation; `false` if it has none. Members of a body are written as in `data.items`. */
export type PageSetting =
  | false
  | {
      readonly by: PageOrder;
      /** The argument that the next page changes. */
      readonly argument?: string;
      /** The member of the body with the cursor, or with the flag that there is more. */
      readonly at?: string;
      /** The member of the body with the list; empty if the body is the list. */
      readonly items?: string;
    };
