/** An order in cents. */
interface Order {
  readonly id: number;
  readonly customer: number;
  readonly cents: number;
}

interface Customer {
  readonly id: number;
  readonly name: string;
  readonly city: string;
}

const CITIES = ["Bergen", "Lisbon", "Osaka", "Quito"] as const;

const CUSTOMERS: readonly Customer[] = Array.from({ length: 12 }, (_, index) => ({
  id: 100 + index,
  name: `Customer ${index + 1}`,
  city: CITIES[(index * 3 + 1) % 4] ?? "Bergen",
}));

const ORDERS: readonly Order[] = Array.from({ length: 40 }, (_, index) => ({
  id: index + 1,
  customer: 100 + ((index * 5) % 12),
  cents: 1_000 + ((index * 377) % 900) * 10,
}));

/** Knows the customers and the orders of a shop. */
export class ShopSkill {
  /**
   * List all orders.
   * @returns The orders, each with the id of its customer and its price in cents
   * @readonly
   * @example device.ShopSkill.listOrders()
   */
  listOrders(): Order[] {
    return [...ORDERS];
  }

  /**
   * List all customers.
   * @returns The customers, each with its city
   * @readonly
   * @example device.ShopSkill.listCustomers()
   */
  listCustomers(): Customer[] {
    return [...CUSTOMERS];
  }
}
